"""Load: Locust in one child process drives a block of requests; the parent hands out work and takes captures.

Only this package imports Locust and gevent, and of it only what runs in the child. Nothing is decoded or judged here.
"""
