"""The log analysis agent: reads logs under the allowed roots, finds the cause and proves it by line."""
