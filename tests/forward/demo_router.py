"""A router in the place of the demonstration's balancer: its ports and neighbours, and routes by
which the captures' packets pass in both directions.
"""

import pathlib

DEMO = pathlib.Path(__file__).resolve().parents[2] / "demo/lb"
ROUTES = {"198.51.100.0/24": "10.0.0.11", "2001:db8:ffff::/48": "2001:db8:2::11"}


def config_text():
    text = (DEMO / "lb.toml").read_text()
    text = text[text.index("[[port]]") : text.index("[[service]]")]
    for prefix, via in ROUTES.items():
        text += f'[[route]]\nprefix = "{prefix}"\nvia = "{via}"\n\n'
    return text
