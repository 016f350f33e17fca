CREATE TABLE IF NOT EXISTS delayqueue_journal (
  revision BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  namespace VARCHAR(64) NOT NULL,
  queue_name VARCHAR(128) NOT NULL,
  message_id VARCHAR(128) NOT NULL,
  operation CHAR(1) NOT NULL,
  on_duplicate VARCHAR(16),
  due_millis BIGINT,
  due_relative BOOLEAN NOT NULL,
  recorded_at BIGINT NOT NULL,
  priority SMALLINT,
  ttl_millis BIGINT,
  group_name VARCHAR(128),
  envelope BLOB,
  accepted BOOLEAN NOT NULL,
  checks SMALLINT NOT NULL,
  claimed_by VARCHAR(36) NOT NULL,
  claimed_until BIGINT NOT NULL,
  failures INTEGER DEFAULT 0 NOT NULL,
  retry_millis BIGINT
);
CREATE INDEX IF NOT EXISTS delayqueue_journal_message ON delayqueue_journal (namespace, queue_name, message_id, revision);
CREATE INDEX IF NOT EXISTS delayqueue_journal_claim ON delayqueue_journal (accepted, namespace, claimed_until);
CREATE TABLE IF NOT EXISTS delayqueue_journal_identity (
  namespace VARCHAR(64) PRIMARY KEY,
  identity VARCHAR(36) NOT NULL,
  committed_at BIGINT NOT NULL,
  maintainer VARCHAR(36) NOT NULL
);
CREATE TABLE IF NOT EXISTS delayqueue_dead_letter (
  namespace VARCHAR(64) NOT NULL,
  queue_name VARCHAR(128) NOT NULL,
  dead_letter_id VARCHAR(160) NOT NULL,
  message_id VARCHAR(128) NOT NULL,
  partition_number SMALLINT NOT NULL,
  content BLOB NOT NULL,
  PRIMARY KEY (namespace, queue_name, dead_letter_id)
);
CREATE TABLE IF NOT EXISTS delayqueue_handled (
  revision BIGINT NOT NULL,
  namespace VARCHAR(64) NOT NULL,
  queue_name VARCHAR(128) NOT NULL,
  message_id VARCHAR(128) NOT NULL,
  handled_at BIGINT NOT NULL,
  PRIMARY KEY (revision, namespace, queue_name, message_id)
);
CREATE INDEX IF NOT EXISTS delayqueue_handled_age ON delayqueue_handled (namespace, handled_at);
CREATE TABLE IF NOT EXISTS delayqueue_ended (
  batch BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  namespace VARCHAR(64) NOT NULL,
  queue_name VARCHAR(128) NOT NULL,
  recorded_at BIGINT NOT NULL,
  revisions VARBINARY(65535) NOT NULL
);
CREATE INDEX IF NOT EXISTS delayqueue_ended_age ON delayqueue_ended (namespace, recorded_at);
CREATE TABLE IF NOT EXISTS delayqueue_history (
  entry BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  namespace VARCHAR(64) NOT NULL,
  queue_name VARCHAR(128) NOT NULL,
  message_id VARCHAR(128) NOT NULL,
  occurred_at BIGINT NOT NULL,
  node VARCHAR(128) NOT NULL,
  event VARCHAR(16) NOT NULL,
  attempt INTEGER,
  detail VARCHAR(500)
);
CREATE INDEX IF NOT EXISTS delayqueue_history_message ON delayqueue_history (namespace, queue_name, message_id, occurred_at);
CREATE INDEX IF NOT EXISTS delayqueue_history_age ON delayqueue_history (namespace, occurred_at);
