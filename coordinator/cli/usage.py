"""Usage errors that the parser finds, as the one JSON document of a command that was asked for JSON."""

from __future__ import annotations

import typer

from coordinator.cli import screen


def wants_json(arguments: list[str]) -> bool:
    """Return whether --json was asked for; behind -- it is text."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return "--json" in arguments[:end]


def run_as_json(app: typer.Typer, arguments: list[str]) -> int:
    """Run a command whose usage errors are printed as JSON, and return its exit code."""
    from typer._click.exceptions import ClickException, UsageError  # typer gives them no public name

    command = typer.main.get_command(app)
    try:
        return int(command.main(arguments, prog_name="nightdesk", standalone_mode=False) or 0)
    except ClickException as error:
        context = error.ctx if isinstance(error, UsageError) else None
        path = context.command_path if context is not None else "nightdesk"
        told = {
            "code": "usage",
            # without arguments the parser's message is its whole help
            "message": error.format_message().splitlines()[0].strip() or "no command was given",
            "why": " ".join(context.get_usage().split()) if context is not None else "",
            "next_step": f"Run `{path} --help`.",
        }
        screen.print_json({"error": told})
        return screen.USAGE
