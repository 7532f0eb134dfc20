"""Commands that run until they are stopped: the site, workers, data planes and downloaders."""
