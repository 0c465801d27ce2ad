"""Names of container logs: which pod, container or service a path of Kubernetes or Docker belongs to."""

from __future__ import annotations

import json
import re
from pathlib import Path

from agents.log_analysis.sources.files import LogFile
from kernel.errors import NightdeskError

#: /var/log/containers/POD_NAMESPACE_CONTAINER-ID.log: links that the kubelet lays.
_LINK = re.compile(r"/containers/(?P<pod>[^/_]+)_(?P<space>[^/_]+)_(?P<container>[^/_]+)-[0-9a-f]{64}\.log$")
#: /var/log/pods/NAMESPACE_POD_UID/CONTAINER/RESTARTS.log, and its rotated files.
_POD = re.compile(
    r"/(?P<space>[^/_]+)_(?P<pod>[^/_]+)_[0-9a-f-]{32,36}/(?P<container>[^/]+)/(?P<file>\d+\.log[^/]*)$"
)
#: /var/lib/docker/containers/ID/ID-json.log, and its rotated files.
_DOCKER = re.compile(r"/(?P<id>[0-9a-f]{12})[0-9a-f]{52}/[0-9a-f]{64}-json\.log(?P<file>[^/]*)$")

#: Docker's note on a container is some kilobytes.
_CONFIG_BYTES = 1 << 20


def container_name(path: Path) -> tuple[str, str] | None:
    """Return what evidence cites a container's log as, and its service; None for any other file."""
    text = str(path)
    if found := _LINK.search(text):
        return f"{found['pod']}/{found['container']}", found["container"]
    if found := _POD.search(text):
        # a container that was restarted has a log of each life
        return f"{found['pod']}/{found['container']}/{found['file']}", found["container"]
    if found := _DOCKER.search(text):
        name = _docker_name(path.parent) or found["id"]
        return f"{name}{found['file']}", name
    return None


def _docker_name(folder: Path) -> str:
    """Return the name that Docker noted beside the log, if it may be read."""
    try:
        note, _ = LogFile(name="", path=folder / "config.v2.json").open()  # neither a link nor a pipe
        with note:
            name = json.loads(note.read(_CONFIG_BYTES)).get("Name", "")
    except (NightdeskError, OSError, ValueError, AttributeError, RecursionError):
        return ""
    plain = str(name).lstrip("/")
    return plain if re.fullmatch(r"[\w.-]{1,128}", plain) else ""
