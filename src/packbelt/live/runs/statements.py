"""The SQL by which runs are kept: one text for SQLite and PostgreSQL, with named parameters.

What changes at each call (`packbelt_runs`) is kept apart from what may be large
(`packbelt_conversations`), so that marking a call costs the same however long the conversation is. `owner` is
who has the run at work, and NULL exactly where it is not `running`; a statement that changes a run at work
names its owner, so that a process whose run was taken from it finds out. Free text is JSON in ASCII:
PostgreSQL's text has no NUL, and neither database takes half a surrogate pair.
"""

VERSION = 1
"""Of this schema; a database of a later one is refused."""

SCHEMA = (
    """CREATE TABLE IF NOT EXISTS packbelt_runs (
        id TEXT PRIMARY KEY,
        workspace TEXT NOT NULL,
        agent TEXT NOT NULL,
        parent TEXT,
        owner TEXT,
        status TEXT NOT NULL,
        resumable INTEGER NOT NULL,
        spoiled INTEGER NOT NULL,
        reason TEXT NOT NULL,
        created DOUBLE PRECISION NOT NULL,
        changed DOUBLE PRECISION NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS packbelt_conversations (
        run TEXT PRIMARY KEY REFERENCES packbelt_runs (id) ON DELETE CASCADE,
        scope TEXT NOT NULL,
        request TEXT NOT NULL,
        output TEXT NOT NULL,
        messages TEXT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS packbelt_runs_by_workspace ON packbelt_runs (workspace, id)",
    "CREATE INDEX IF NOT EXISTS packbelt_runs_by_owner ON packbelt_runs (owner)",
)

CREATE = """INSERT INTO packbelt_runs
    (id, workspace, agent, parent, owner, status, resumable, spoiled, reason, created, changed)
    VALUES (:id, :workspace, :agent, :parent, :owner, 'running', 1, 0, '', :created, :now)
    ON CONFLICT (id) DO NOTHING"""
CREATE_CONVERSATION = """INSERT INTO packbelt_conversations (run, scope, request, output, messages)
    VALUES (:id, :scope, :request, :output, :messages)"""

BEGIN = """UPDATE packbelt_runs SET resumable = 0, changed = :now,
    reason = CASE WHEN spoiled = 1 THEN reason ELSE :doing END
    WHERE id = :id AND owner = :owner"""
SETTLE = """UPDATE packbelt_runs SET resumable = 1 - spoiled, changed = :now,
    reason = CASE WHEN spoiled = 1 THEN reason ELSE '' END
    WHERE id = :id AND owner = :owner"""
SPOIL = """UPDATE packbelt_runs SET spoiled = 1, resumable = 0, changed = :now,
    reason = CASE WHEN spoiled = 1 THEN reason ELSE :why END
    WHERE id = :id"""
TOUCH = "UPDATE packbelt_runs SET changed = :now WHERE id = :id AND owner = :owner"
KEEP = "UPDATE packbelt_conversations SET messages = :messages WHERE run = :id"

# A run that ends with a call under way is one whose call may have happened, whoever ends it.
_REASON = """CASE WHEN spoiled = 1 THEN reason
    WHEN resumable = 0 THEN :ended || ' while it was ' || reason || ': the call may have happened'
    ELSE :why END"""
FINISH = f"""UPDATE packbelt_runs SET status = :status, owner = NULL, changed = :now, reason = {_REASON}
    WHERE id = :id AND owner = :owner"""  # noqa: S608  # put together from this module's own text
FINISH_CONVERSATION = """UPDATE packbelt_conversations SET output = :output, messages = :messages
    WHERE run = :id"""
ABANDON = f"""UPDATE packbelt_runs SET status = 'failed', owner = NULL, changed = :now, reason = {_REASON}
    WHERE owner = :owner"""  # noqa: S608  # as above
"""Settles all that an owner had at work when it ended."""
TRANSFER = "UPDATE packbelt_runs SET owner = :owner WHERE owner = :before"

CLAIM = """UPDATE packbelt_runs SET status = 'running', owner = :owner, reason = '', changed = :now
    WHERE id = :id AND owner IS NULL AND resumable = 1"""
CLAIM_CONVERSATION = "UPDATE packbelt_conversations SET request = :request WHERE run = :id"

STANDING = "SELECT owner, status, resumable, reason, changed FROM packbelt_runs WHERE id = :id"
OWNERS = "SELECT DISTINCT owner FROM packbelt_runs WHERE owner IS NOT NULL AND owner <> :owner"

_COLUMNS = """id, workspace, agent, parent, scope, request, status, resumable, reason, spoiled, output,
    created, changed"""
_FROM = "FROM packbelt_runs JOIN packbelt_conversations ON run = id"
GET = f"SELECT {_COLUMNS}, messages {_FROM} WHERE id = :id"
FIND = f"""SELECT {_COLUMNS}, '[]' {_FROM}
    WHERE workspace = :workspace ORDER BY id DESC LIMIT :count"""

PRUNE = """DELETE FROM packbelt_runs WHERE id IN (
    SELECT id FROM packbelt_runs WHERE workspace = :workspace AND owner IS NULL
    ORDER BY changed DESC, id DESC LIMIT 1000000000 OFFSET :kept)"""
"""SQLite takes no OFFSET without a LIMIT."""
