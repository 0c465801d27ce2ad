"""The tool loop that all agents share: specification, brains, tools, execution, approvals, evidence."""
