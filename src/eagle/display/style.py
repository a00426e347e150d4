"""The look of all parts of a page, light and dark: by the screen, or by a notebook's theme."""

from __future__ import annotations

from typing import Final

STYLE: Final = """
.eagle{--up:#0072B2;--down:#D55E00;--line:#8884;--soft:#666;color:inherit;
font:13px/1.45 system-ui,sans-serif;max-width:64em}
@media(prefers-color-scheme:dark){.eagle{--up:#56B4E9;--down:#E69F00;--soft:#aaa}}
[data-jp-theme-light=false] .eagle,.vscode-dark .eagle{--up:#56B4E9;--down:#E69F00;--soft:#aaa}
[data-jp-theme-light=true] .eagle,.vscode-light .eagle{--up:#0072B2;--down:#D55E00;--soft:#666}
.eagle table{border-collapse:collapse;width:100%;margin:.4em 0;background:none;font:inherit}
.eagle th,.eagle td{padding:.15em .6em;text-align:right;border:0;
border-bottom:1px solid var(--line);background:none;white-space:nowrap;
font-variant-numeric:tabular-nums}
.eagle th:first-child,.eagle td:first-child{text-align:left}
.eagle .plot{width:30%;min-width:8em}.eagle svg{display:block;width:100%;height:1.3em}
.eagle .title{font-weight:600}.eagle .fact{color:var(--soft);font-size:12px}
.eagle .words{line-height:2.1}.eagle .words span{border-radius:3px;padding:.1em .15em}
.eagle .words span{border-style:solid}.eagle .words .unsure{border-style:dashed;opacity:.75}
.eagle .words span.part{display:block;border-width:0 0 0 4px;border-style:solid;
padding:.1em .6em;margin:.2em 0;line-height:1.5}.eagle .part small{opacity:.75}
.eagle .words,.eagle bdi{overflow-wrap:anywhere;white-space:pre-line}
.eagle img{image-rendering:pixelated;margin:.4em 0}
.eagle .note{border-left:3px solid var(--soft);padding-left:.6em;margin:.4em 0}
.eagle .warn{border-left:3px solid var(--down);padding-left:.6em;margin:.4em 0}
"""
