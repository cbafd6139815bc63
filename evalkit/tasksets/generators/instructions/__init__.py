"""Requests under instructions that a program can check, composed so that none conflict."""
