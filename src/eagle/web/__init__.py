"""The page: explanations in a browser, on this machine.

    eagle.serve(explainer, X)

`payload` is what the page draws of an explanation, and `static/chart.js` draws it.
"""

from eagle.web.payload import Payload, payload
from eagle.web.server import serve

__all__ = ["Payload", "payload", "serve"]
