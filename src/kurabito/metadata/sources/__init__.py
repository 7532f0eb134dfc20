"""Where metadata comes from: `tmdb`, `bangumi` (bgm.tv), and the `offline` index, which is read from the file of `bangumi_data`."""
