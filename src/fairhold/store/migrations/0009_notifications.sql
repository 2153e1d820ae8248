-- The ninth format: what people want to be told, and messages that are not delivered yet. kind: `person`, `watch`, `outbox`
-- or `threshold`; body: JSON.
CREATE TABLE notifications (
    kind TEXT NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL, seal INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (kind, name)
);
