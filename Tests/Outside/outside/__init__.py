"""Tests from outside: a provider, a driver and a judge that share no code with the daemon."""
