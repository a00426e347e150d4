"""The look of all parts of a page, light and dark: by the screen, or by a notebook's theme."""

from __future__ import annotations

from typing import Final

from eagle.display.colours import DOWN, DOWN_ON_DARK, GREY, UP, UP_ON_DARK

LIGHT = f"--up:{UP};--down:{DOWN};--soft:#666"
DARK = f"--up:{UP_ON_DARK};--down:{DOWN_ON_DARK};--soft:#aaa"
"""The colours on a light and on a dark page."""

BARS: Final = """
.eagle svg.s,.eagle svg.a{display:block;width:100%;height:1.35rem;overflow:visible}
.eagle svg.a{height:1.1rem;font-size:11px;fill:var(--soft);font-weight:400}
.eagle .g{stroke:var(--line);stroke-width:1}.eagle .z{stroke:var(--soft);stroke-width:1}
.eagle .up{fill:var(--up)}.eagle .down{fill:var(--down)}.eagle .flat{fill:var(--flat)}
.eagle .p{opacity:.38}
.eagle .i{stroke:var(--ink);stroke-width:1.6;fill:none;stroke-linecap:round}
.eagle .o{fill:var(--paper);stroke:var(--ink);stroke-width:1.6}.eagle .dot{fill:var(--ink)}
.eagle td.t,.eagle th.t{text-align:left;white-space:normal}.eagle td.t{min-width:7rem}
.eagle td.b,.eagle th.b{width:34%;min-width:6.5rem;padding:.2rem .8rem}
.eagle table.one td.t:first-child{width:32%}
.eagle .pictures{display:flex;flex-wrap:wrap;gap:1rem;margin:1rem 0 .5rem}
.eagle .pictures figure{margin:0;flex:0 1 17rem;min-width:8.5rem}
.eagle .pictures figcaption{color:var(--soft);font-size:.875em}
.eagle .photo{position:relative}.eagle .photo svg{position:absolute;inset:0;height:100%}
.eagle .pictures img{display:block;width:100%;height:auto;image-rendering:pixelated}
.eagle .photo path{fill:none;vector-effect:non-scaling-stroke;stroke-linecap:square}
.eagle .photo .under{stroke:#fff;stroke-width:4.5}.eagle .photo .edge{stroke-width:2.5}
.eagle .edge.up{stroke:var(--up)}.eagle .edge.down{stroke:var(--down)}
.eagle .edge.flat{stroke:var(--flat)}
.eagle .photo text{text-anchor:middle;dominant-baseline:central;font-weight:700;fill:#000;
stroke:#fff;stroke-width:.25em;paint-order:stroke}
@media print{.eagle td.b,.eagle th.b{min-width:4.5rem}}
@media(max-width:640px){.eagle .pictures figure{flex-basis:45%}
.eagle table.bars,.eagle table.bars tbody,.eagle table.bars thead,.eagle table.bars caption{
display:block}
.eagle table.bars thead tr{display:flex}.eagle table.bars thead th{display:none}
.eagle table.bars thead th.b{display:block;width:100%;min-width:0;padding:0;border:0}
.eagle table.bars tbody tr{display:flex;flex-wrap:wrap;align-items:baseline;column-gap:.9rem;
padding:.45rem 0;border-bottom:1px solid var(--line)}
.eagle table.bars td{border:0;padding:0;font-size:.84rem}
.eagle table.bars td.t{flex:1 0 100%;font-weight:600;font-size:.9rem}
.eagle table.bars td.b{flex:1 0 100%;width:100%;min-width:0;padding:.15rem 0}
.eagle table.bars td[data-n]::before{content:attr(data-n) " ";color:var(--soft)}
}
"""
"""Tables with bars, on wide and on narrow screens: in notebooks and in reports."""

STYLE: Final = (
    f"""
.eagle{{{LIGHT};--line:#8884;--ink:currentColor;--flat:{GREY};--paper:none;color:inherit}}
@media(prefers-color-scheme:dark){{.eagle{{{DARK}}}}}
[data-jp-theme-light=false] .eagle,.vscode-dark .eagle{{{DARK}}}
[data-jp-theme-light=true] .eagle,.vscode-light .eagle{{{LIGHT}}}"""
    """
.eagle{font:13px/1.45 system-ui,sans-serif;max-width:64em}
.eagle table{border-collapse:collapse;width:100%;margin:.4em 0;background:none;font:inherit}
.eagle th,.eagle td{padding:.15em .6em;text-align:right;border:0;
border-bottom:1px solid var(--line);background:none;white-space:nowrap;
font-variant-numeric:tabular-nums}
.eagle th:first-child,.eagle td:first-child{text-align:left}
.eagle svg{display:block;width:100%}
.eagle .title{font-weight:600}.eagle .fact{color:var(--soft);font-size:12px}
.eagle .words{line-height:2.1}.eagle .words span{border-radius:3px;padding:.1em .15em}
.eagle .words span{border-style:solid}.eagle .words .unsure{border-style:dashed;opacity:.75}
.eagle .words span.part{display:block;border-width:0 0 0 4px;border-style:solid;
padding:.1em .6em;margin:.2em 0;line-height:1.5}.eagle .part small{opacity:.75}
.eagle .words,.eagle bdi{overflow-wrap:anywhere;white-space:pre-line}
.eagle .note{border-left:3px solid var(--soft);padding-left:.6em;margin:.4em 0}
.eagle .warn{border-left:3px solid var(--down);padding-left:.6em;margin:.4em 0}
""" + BARS
)
