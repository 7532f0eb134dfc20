"""Tasks that are enqueued at given times: `cron` reads expressions, `schedule` knows when the next one is due."""
