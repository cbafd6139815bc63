"""A soak as one offline HTML file, under the report's own rules."""

from __future__ import annotations

from markupsafe import Markup

from evalkit.report.html import content_policy, environment
from evalkit.report.soak_chart import soak_charts
from evalkit.report.soak_model import SoakView
from evalkit.resources import resource_dir


def render_soak_page(view: SoakView) -> str:
    """Return the page: no script, no request, one style sheet that is allowed by its hash."""
    styles = (resource_dir("templates") / "styles.css").read_text(encoding="utf-8")
    return (
        environment()
        .get_template("soak.html.j2")
        .render(
            view=view,
            ui=view.ui,
            charts=soak_charts(view),
            styles=Markup(styles),
            policy=content_policy(styles),
        )
    )
