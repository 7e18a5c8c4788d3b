# The settings that all environments share, by the same file, without what an environment makes of them.
