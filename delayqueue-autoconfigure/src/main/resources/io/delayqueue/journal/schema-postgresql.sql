CREATE TABLE IF NOT EXISTS delayqueue_journal (
  revision BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  namespace VARCHAR(64) COLLATE "C" NOT NULL,
  queue_name VARCHAR(128) COLLATE "C" NOT NULL,
  message_id VARCHAR(128) COLLATE "C" NOT NULL,
  operation CHAR(1) NOT NULL,
  on_duplicate VARCHAR(16),
  due_millis BIGINT,
  due_relative BOOLEAN NOT NULL,
  recorded_at BIGINT NOT NULL,
  priority SMALLINT,
  ttl_millis BIGINT,
  group_name VARCHAR(128) COLLATE "C",
  envelope BYTEA,
  accepted BOOLEAN NOT NULL,
  checks SMALLINT NOT NULL,
  claimed_by VARCHAR(36) NOT NULL,
  claimed_until BIGINT NOT NULL,
  failures INTEGER DEFAULT 0 NOT NULL
);
CREATE INDEX IF NOT EXISTS delayqueue_journal_message ON delayqueue_journal (namespace, queue_name, message_id, revision);
CREATE INDEX IF NOT EXISTS delayqueue_journal_claim ON delayqueue_journal (accepted, namespace, claimed_until);
CREATE TABLE IF NOT EXISTS delayqueue_journal_identity (
  namespace VARCHAR(64) COLLATE "C" PRIMARY KEY,
  identity VARCHAR(36) NOT NULL,
  committed_at BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS delayqueue_dead_letter (
  namespace VARCHAR(64) COLLATE "C" NOT NULL,
  queue_name VARCHAR(128) COLLATE "C" NOT NULL,
  dead_letter_id VARCHAR(160) COLLATE "C" NOT NULL,
  message_id VARCHAR(128) COLLATE "C" NOT NULL,
  partition_number SMALLINT NOT NULL,
  content BYTEA NOT NULL,
  PRIMARY KEY (namespace, queue_name, dead_letter_id)
);
CREATE TABLE IF NOT EXISTS delayqueue_handled (
  revision BIGINT PRIMARY KEY
);
CREATE TABLE IF NOT EXISTS delayqueue_history (
  entry BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  namespace VARCHAR(64) COLLATE "C" NOT NULL,
  queue_name VARCHAR(128) COLLATE "C" NOT NULL,
  message_id VARCHAR(128) COLLATE "C" NOT NULL,
  occurred_at BIGINT NOT NULL,
  node VARCHAR(128) NOT NULL,
  event VARCHAR(16) NOT NULL,
  attempt INTEGER,
  detail VARCHAR(500)
);
CREATE INDEX IF NOT EXISTS delayqueue_history_message ON delayqueue_history (namespace, queue_name, message_id, occurred_at);
CREATE INDEX IF NOT EXISTS delayqueue_history_age ON delayqueue_history (namespace, occurred_at);
