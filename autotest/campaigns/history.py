"""Stores the progress of campaigns while they run, in an SQLite file that several processes may write at once."""

from __future__ import annotations

import contextlib
import fcntl
import json
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from autotest.base.errors import StoreUnwritable, UsageError
from autotest.results.identity import Identity
from autotest.results.progress import CampaignProgress, TestProgress
from autotest.results.tasks import FindingRecord, Where
from autotest.results.verification import Verification
from autotest.storage.field_types import wrong_field

_SCHEMA = """
create table if not exists campaign (
    id text primary key, base_seed integer not null, shard text not null, started real not null,
    seconds real not null, workers_lost integer not null, cleared integer not null, stopped text not null
);
create table if not exists test (
    campaign text not null references campaign(id), test text not null, file text not null,
    next integer not null, waiting text not null, tried integer not null, accepted integer not null,
    rejected integer not null, died integer not null, compared integer not null, seconds real not null,
    broken text not null, primary key (campaign, file, test)
);
create table if not exists seen (
    campaign text not null references campaign(id), file text not null, test text not null, kind text not null,
    name text not null, times integer not null, primary key (campaign, file, test, kind, name)
);
create table if not exists finding (
    campaign text not null references campaign(id), key text not null, identity text not null, file text not null,
    test text not null, trial integer not null, times integer not null, found real not null, details text not null,
    primary key (campaign, key)
);
"""
_TABLES = ("campaign", "test", "seen", "finding")
#: Seconds to wait for another process that is writing.
_LOCK_TIMEOUT = 30.0
#: Maximum number of base seeds that an error lists.
_LISTED = 6
#: The kinds of rows in the table `seen`; each is also the name of the attribute of `TestProgress` with these counts.
_KINDS = ("rejections", "avoided", "operators", "arguments", "expected", "known_deaths", "forgotten")


def _retry_while_locked(action: Callable[[], object]) -> None:
    """Repeat `action` while the file is locked: SQLite itself does not wait when the journal mode is changed."""
    end = time.monotonic() + _LOCK_TIMEOUT
    while True:
        try:
            action()
        except sqlite3.OperationalError as error:  # noqa: PERF203 - the loop is there to try again
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(0.01)
        else:
            return


class History:
    """The history of campaigns in one store's folder."""

    FILE = "history.sqlite"
    #: Its bytes are locked by the processes that run campaigns. It stays empty.
    LOCKS = "history.lock"

    def __init__(self, directory: Path) -> None:
        """Open the history below `directory`, and create it if there is none. Raises `StoreUnwritable`."""
        self.path = directory / self.FILE
        #: Open files with locks on the campaigns that this process runs.
        self._claims = contextlib.ExitStack()
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._base = sqlite3.connect(self.path, timeout=_LOCK_TIMEOUT, isolation_level=None)
        except (OSError, sqlite3.Error) as error:
            raise self._unwritable(error) from error
        try:
            # WAL lets other processes read meanwhile; NORMAL loses at most the last moments in a power cut, never the
            # file.
            _retry_while_locked(lambda: self._base.execute("pragma journal_mode = wal"))
            self._base.execute("pragma synchronous = normal")
            self._base.executescript(_SCHEMA)
        except sqlite3.Error as error:
            self._base.close()
            raise self._unwritable(error) from error

    def _unwritable(self, error: Exception) -> StoreUnwritable:
        return StoreUnwritable(
            f"the history {self.path} cannot be written: {error}; make it writable, move it away if it is damaged, "
            "or name another folder with AUTOTEST_DIR"
        )

    def close(self) -> None:
        """Close the file, and let other processes resume the campaigns."""
        self._base.close()
        self._claims.close()

    def begin(self, progress: CampaignProgress, shard: str) -> str:
        """Record that a campaign starts, and return its id. Raises `StoreUnwritable`."""
        identity = uuid.uuid4().hex
        try:
            with self._transaction():
                self._base.execute(
                    "insert into campaign values (?, ?, ?, ?, 0, 0, 0, '')",
                    (identity, progress.base_seed, shard, time.time()),
                )
        except sqlite3.Error as error:
            raise self._unwritable(error) from error
        self._claim(identity)
        return identity

    def _claim(self, campaign: str) -> None:
        """Lock a campaign until this history is closed: two processes that run it would overwrite each other's rows.

        Raises `UsageError` if another process has locked it.
        """
        try:
            (number,) = self._base.execute("select rowid from campaign where id = ?", (campaign,)).fetchone()
            file = self._claims.enter_context(self.path.with_name(self.LOCKS).open("ab"))
            # One byte for each campaign. The system releases it when this process ends, also if it is killed.
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, number)
        except (BlockingIOError, PermissionError) as error:
            raise UsageError(
                f"--resume: another process is running this campaign of {self.path}; "
                "wait for it to end, or run without --resume"
            ) from error
        except (OSError, sqlite3.Error) as error:
            raise self._unwritable(error) from error

    def save(self, campaign: str, progress: CampaignProgress, waiting: Mapping[Where, list[range]]) -> None:
        """Save the progress of a campaign.

        Args:
            campaign: its id.
            progress: its progress; its tests are marked as saved.
            waiting: the trials of each test that were handed out and are not counted yet.

        Raises:
            StoreUnwritable: if the file cannot be written; it then keeps the previous state.
        """
        try:
            self._save(campaign, progress, waiting)
        except sqlite3.Error as error:
            raise StoreUnwritable(f"the history {self.path} cannot be written any more: {error}") from error
        for test in progress.tests:
            # The set of running trials changes without `changed` being set, so such a test is saved again next time.
            test.changed = bool(waiting.get(test.where))

    def _save(self, campaign: str, progress: CampaignProgress, waiting: Mapping[Where, list[range]]) -> None:
        with self._transaction():
            self._base.execute(
                "update campaign set seconds = ?, workers_lost = ?, cleared = ?, stopped = ? where id = ?",
                (progress.seconds, progress.workers_lost, progress.cleared, progress.stopped, campaign),
            )
            for test in progress.tests:
                if test.next and test.changed:
                    self._save_test(campaign, test, waiting.get(test.where, []))
            # All rows are replaced: diagnosis may have renamed a finding, or found it to be a known divergence.
            self._base.execute("delete from finding where campaign = ?", (campaign,))
            for identity, found in progress.found.items():
                self._base.execute(
                    "insert or replace into finding values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        campaign,
                        found.key,
                        json.dumps(identity),
                        str(found.where.file),
                        found.where.test,
                        found.index,
                        progress.seen[identity],
                        time.time(),
                        _details(found),
                    ),
                )

    def _save_test(self, campaign: str, test: TestProgress, under_way: list[range]) -> None:
        waiting = [(part.start, part.stop, part.step) for part in (*test.returned, *under_way)]
        place = (str(test.where.file), test.where.test)
        self._base.execute(
            "insert or replace into test values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                campaign,
                test.where.test,
                str(test.where.file),
                test.next,
                json.dumps(waiting),
                test.tried,
                test.accepted,
                test.rejected,
                test.died,
                test.compared,
                test.seconds,
                test.broken,
            ),
        )
        rows = [(campaign, *place, kind, name, times) for kind in _KINDS for name, times in getattr(test, kind).items()]
        self._base.executemany("insert or replace into seen values (?, ?, ?, ?, ?, ?)", rows)

    def resume(self, progress: CampaignProgress, shard: str) -> str:
        """Restore `progress` from the last campaign with its seed and `shard`, and return that campaign's id.

        A test that was broken is tried again, because it may have been repaired.

        Raises:
            UsageError: there is no such campaign, another process is running it, or it cannot be read.
        """
        campaign, _ = self.last(shard, progress.base_seed)
        self._claim(campaign)
        with self._reading():
            self._restore(campaign, progress)
        return campaign

    def _restore(self, campaign: str, progress: CampaignProgress) -> None:
        by_where = {(str(test.where.file), test.where.test): test for test in progress.tests}
        columns = "file, test, next, waiting, tried, accepted, died, compared, seconds"
        for file, name, *values in self._base.execute(f"select {columns} from test where campaign = ?", (campaign,)):
            test = by_where.get((file, name))
            if test is not None:
                test.next, waiting, test.tried, test.accepted, test.died, test.compared, test.seconds = values
                test.returned = [range(*part) for part in json.loads(waiting)]
        query = "select file, test, kind, name, times from seen where campaign = ?"
        for file, name, kind, item, times in self._base.execute(query, (campaign,)):
            test = by_where.get((file, name))
            if test is not None:
                getattr(test, kind)[item] = times
                if kind in ("expected", "known_deaths"):
                    progress.expected[item] += times
                if kind == "known_deaths":
                    progress.known_deaths[item] += times
        for found, times in self._found(campaign, progress.base_seed):
            progress.found[found.identity] = found
            progress.seen[found.identity] = times
        query = "select seconds, workers_lost, cleared from campaign where id = ?"
        progress.seconds, progress.workers_lost, progress.cleared = self._base.execute(query, (campaign,)).fetchone()
        for part in (*progress.tests, *progress.found.values()):
            if wrong := wrong_field(part):
                raise ValueError(wrong)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """Raise a `UsageError` if what is read inside the block is not what a history of this version contains."""
        try:
            yield
        except UsageError:
            raise
        except (sqlite3.Error, ValueError, TypeError, LookupError, AttributeError) as error:
            raise UsageError(
                f"the history {self.path} cannot be read: {error}. It is damaged or from another version: move it away "
                "and run without --resume. The stored failures are elsewhere and remain"
            ) from error

    def last(self, shard: str, base_seed: int | None = None) -> tuple[str, int]:
        """Return the id and base seed of the last campaign of `shard`, with that base seed if one is given.

        Raises `UsageError` if there is none, or it cannot be read.
        """
        query = (
            "select id, base_seed from campaign where shard = ? and (? is null or base_seed = ?) order by started desc"
        )
        with self._reading():
            row = self._base.execute(query, (shard, base_seed, base_seed)).fetchone()
            if row is None:
                raise UsageError(self._no_campaign(shard, base_seed))
            return str(row[0]), int(row[1])

    def _no_campaign(self, shard: str, base_seed: int | None) -> str:
        """Return the message that there is no campaign of `shard` with `base_seed`, or none at all if it is None."""
        query = "select base_seed from campaign where shard = ? group by base_seed order by max(started) desc"
        seeds = [str(seed) for (seed,) in self._base.execute(query, (shard,))]
        missing = f"--resume: {self.path} contains no campaign of shard {shard}"
        if not seeds:
            return f"{missing}; run without --resume"
        more = f" and {len(seeds) - _LISTED} more" if len(seeds) > _LISTED else ""
        there = f"it contains some with {', '.join(seeds[:_LISTED])}{more}"
        return f"{missing} with base seed {base_seed}; {there}. Give --seed one of them, or run without --resume"

    def _found(self, campaign: str, base_seed: int) -> Iterator[tuple[FindingRecord, int]]:
        query = "select key, identity, file, test, trial, times, details from finding where campaign = ? order by found"
        for key, identity, file, test, trial, times, details in self._base.execute(query, (campaign,)):
            place, verified, verdict, message, *others = json.loads(details)  # fewer in rows of earlier versions
            where = Where(Path(file), test, others[3] if len(others) > 3 else base_seed)
            known = Identity(*json.loads(identity))
            state = Verification.from_data(verified)
            yield FindingRecord(key, known, where, trial, place, state, verdict, message, "", *others[:3]), times

    def merge(self, other: Path) -> int:
        """Copy the campaigns of another history file, and return how many were new. Raises `UsageError`."""
        if not other.is_file():
            return 0
        try:
            self._base.execute("attach database ? as other", (str(other),))
            try:
                before = self._count()
                with self._transaction():
                    for table in _TABLES:
                        self._base.execute(f"insert or ignore into main.{table} select * from other.{table}")
                return self._count() - before
            finally:
                self._base.execute("detach database other")
        except sqlite3.Error as error:
            raise UsageError(f"{other} is not a readable history of campaigns: {error}") from error

    def _count(self) -> int:
        return int(self._base.execute("select count(*) from campaign").fetchone()[0])

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._base.execute("begin immediate")
        try:
            yield
            self._base.execute("commit")
        except BaseException:
            if self._base.in_transaction:  # a full disk may have ended it already
                self._base.execute("rollback")
            raise


def _details(found: FindingRecord) -> str:
    """Return the text of the column `details`."""
    # The base seed of a pinned trial is not that of its campaign.
    others = found.happens, found.blame, found.has_script, found.where.base_seed
    return json.dumps([found.place, found.verified.as_data(), found.verdict, found.message, *others])
