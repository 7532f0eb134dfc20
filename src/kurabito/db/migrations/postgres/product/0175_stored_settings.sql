-- The settings that were changed while Kurabito ran: options and the environment win over them, they win over the file.
-- Values are JSON. Some are secrets, so a data plane has no right to read them.
CREATE TABLE stored_settings (
    name       text   NOT NULL PRIMARY KEY,
    value      text   NOT NULL,
    changed_at bigint NOT NULL
);
