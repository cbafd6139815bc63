"""The line of releases as one offline HTML file, under the report's own rules."""

from __future__ import annotations

from markupsafe import Markup

from evalkit.report.history_chart import history_chart
from evalkit.report.history_model import HistoryView
from evalkit.report.html import content_policy, environment
from evalkit.resources import resource_dir


def render_history(view: HistoryView) -> str:
    """Return the page: no script, no request, one style sheet that is allowed by its hash."""
    styles = (resource_dir("templates") / "styles.css").read_text(encoding="utf-8")
    return (
        environment()
        .get_template("history.html.j2")
        .render(
            view=view,
            ui=view.ui,
            charts=[history_chart(plot) for plot in view.plots],
            styles=Markup(styles),
            policy=content_policy(styles),
        )
    )
