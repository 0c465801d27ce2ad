"""Flower's options: read-only, bounded memory, and metrics behind the same password as the pages."""

from flower.views.monitor import Metrics
from tornado.web import authenticated

# Flower 2.2 serves /metrics without asking for the password; task names and workers are nobody else's business.
# /healthcheck stays open: it says "OK" and nothing else.
Metrics.get = authenticated(Metrics.get)

read_only = True
max_tasks = 5000
purge_offline_workers = 600
# newest first, and what the task was asked, as its role says
tasks_columns = "name,args,state,received,runtime,worker,result"
inspect_timeout = 2000.0
