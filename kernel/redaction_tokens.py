"""The shapes of keys and tokens that their makers gave a mark of their own: whoever sees one knows what it is."""

from __future__ import annotations

#: RE2 patterns, each of one maker, with the mark first.
TOKENS = (
    r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}",  # AWS
    r"LTAI[A-Za-z0-9]{12,26}|STS\.[A-Za-z0-9]{20,40}",  # Aliyun
    r"AKID[A-Za-z0-9]{13,40}",  # Tencent Cloud
    r"ALTAK[A-Za-z0-9]{16,32}",  # Baidu AI Cloud
    r"AKL[TP][A-Za-z0-9_-]{20,60}",  # Volcengine
    r"HPUA[A-Z0-9]{16}",  # Huawei Cloud
    r"JDC_[A-Z0-9]{24,32}",  # JD Cloud
    r"SEC[0-9a-f]{64}",  # DingTalk, signed robots
    r"AIza[\w-]{35}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}",  # Google
    r"gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{22,}",  # GitHub
    r"gl(?:pat|dt|rt|ptt|ft|soat|imt|agent|cbt|oas)-[\w-]{18,}",  # GitLab
    r"xox[abceoprs]-[\w-]{10,}|xapp-[\w-]{20,}",  # Slack
    r"[sr]k_(?:live|test)_\w{16,}|whsec_[A-Za-z0-9+/=]{20,}",  # Stripe
    r"sk-[A-Za-z0-9_-]{20,}",  # OpenAI, Anthropic and those that follow them
    r"hf_[A-Za-z0-9]{30,}",  # Hugging Face
    r"npm_[A-Za-z0-9]{36}|pypi-AgE[\w-]{20,}|dckr_(?:pat|oat)_[\w-]{20,}",  # package registries
    r"SG\.[\w-]{16,}\.[\w-]{16,}",  # SendGrid
    r"[0-9]{8,10}:AA[\w-]{32,34}",  # Telegram
    r"hv[bs]\.[\w-]{20,}",  # Vault
    r"glsa_\w{30,}|dop_v1_[0-9a-f]{64}|dapi[0-9a-f]{32}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",  # Grafana, DigitalOcean, …
    r"sq0(?:atp|csp)-[\w-]{22,}|ATATT3x[\w=-]{20,}|lin_api_\w{32,}|PMAK-[0-9a-f-]{40,}",  # Square, Atlassian, …
    r"AGE-SECRET-KEY-1[A-Z0-9]{58}",  # age
)
