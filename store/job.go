package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// States of a job.
const (
	JobWaiting = "waiting" // its line has not started
	JobRunning = "running"
	JobDone    = "done"
)

// Kinds of jobs.
const (
	JobLine    = "line"
	JobCommand = "command"
)

// Job is a command submitted by a caller, with its result. Its row is written before the command runs and outlives the
// session.
type Job struct {
	ID      string
	Session string // id
	Kind    string // line: for the session's shell; command: the session's own
	Line    string // readable form of the command
	State   string // waiting, running, done
	N       int    // number of the command in its session; 0: unknown, or none
	Request []byte // JSON, the caller's
	Result  []byte // JSON of the caller; empty until the job ends
	Created time.Time
	Ended   time.Time
}

var jobColumns = columns[Job]{
	{"id", func(j *Job) any { return j.ID }, func(j *Job) any { return &j.ID }},
	{"session", func(j *Job) any { return j.Session }, func(j *Job) any { return &j.Session }},
	{"kind", func(j *Job) any { return j.Kind }, func(j *Job) any { return &j.Kind }},
	{"line", func(j *Job) any { return j.Line }, func(j *Job) any { return &j.Line }},
	{"state", func(j *Job) any { return j.State }, func(j *Job) any { return &j.State }},
	{"n", func(j *Job) any { return j.N }, func(j *Job) any { return &j.N }},
	{"request", func(j *Job) any { return string(j.Request) }, func(j *Job) any { return &j.Request }},
	{"result", func(j *Job) any { return string(j.Result) }, func(j *Job) any { return &j.Result }},
	{"created_ns", func(j *Job) any { return nanos(j.Created) }, func(j *Job) any { return nanosInto{&j.Created} }},
	{"ended_ns", func(j *Job) any { return nanos(j.Ended) }, func(j *Job) any { return nanosInto{&j.Ended} }},
}

// AddJob records a job, or returns ErrJobExists.
func (s *Store) AddJob(ctx context.Context, j Job) error {
	text := "INSERT INTO jobs (" + jobColumns.names(", ") + ") VALUES " + jobColumns.placeholders() + " ON CONFLICT (id) DO NOTHING"
	res, err := s.db.ExecContext(ctx, text, jobColumns.values(&j)...)
	return s.requireRow("record job "+j.ID, ErrJobExists, res, err)
}

// UpdateJob replaces the record of a job, or returns ErrNoJob.
func (s *Store) UpdateJob(ctx context.Context, j Job) error {
	text := "UPDATE jobs SET " + jobColumns.names(" = ?, ") + " = ? WHERE id = ?"
	res, err := s.db.ExecContext(ctx, text, append(jobColumns.values(&j), j.ID)...)
	return s.notifyChange(s.requireRow("update job "+j.ID, ErrNoJob, res, err))
}

// Job returns the job with that ID, or ErrNoJob.
func (s *Store) Job(ctx context.Context, id string) (Job, error) {
	var j Job
	text := "SELECT " + jobColumns.names(", ") + " FROM jobs WHERE id = ?"
	err := s.db.QueryRowContext(ctx, text, id).Scan(jobColumns.dests(&j)...)
	if errors.Is(err, sql.ErrNoRows) {
		return Job{}, ErrNoJob
	}
	return j, s.explain("read job "+id, err)
}

// JobQuery selects jobs. The zero value selects all.
type JobQuery struct {
	Prefix  string // start of the id
	Session string
	Open    bool   // not ended
	Text    string // substring of the line, ignoring the case of ASCII letters
	Kind    string // line or command; "": both
	Limit   int    // at most this many, the newest; 0: all
}

// Jobs returns the jobs that match a query, newest first.
func (s *Store) Jobs(ctx context.Context, q JobQuery) ([]Job, error) {
	const op = "read jobs"
	text, args := "SELECT "+jobColumns.names(", ")+" FROM jobs WHERE 1", []any(nil)
	if q.Prefix != "" {
		text, args = text+` AND id LIKE ? ESCAPE '\'`, append(args, likeEscaper.Replace(q.Prefix)+"%")
	}
	if q.Session != "" {
		text, args = text+" AND session = ?", append(args, q.Session)
	}
	if q.Open {
		text += " AND state <> '" + JobDone + "'"
	}
	if q.Kind != "" {
		text, args = text+" AND kind = ?", append(args, q.Kind)
	}
	if q.Text != "" {
		text, args = text+` AND line LIKE ? ESCAPE '\'`, append(args, "%"+likeEscaper.Replace(q.Text)+"%")
	}
	text += " ORDER BY created_ns DESC, id"
	if q.Limit > 0 {
		text, args = text+" LIMIT ?", append(args, q.Limit)
	}
	rows, err := s.db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, s.explain(op, err)
	}
	all, err := jobColumns.rows(rows)
	return all, s.explain(op, err)
}

// PruneJobs deletes all but the newest keep ended jobs.
func (s *Store) PruneJobs(ctx context.Context, keep int) error {
	_, err := s.db.ExecContext(ctx, `DELETE FROM jobs WHERE state = 'done' AND id NOT IN
		(SELECT id FROM jobs ORDER BY created_ns DESC LIMIT ?)`, keep)
	return s.explain("forget old jobs", err)
}

// DropJobOutputs removes the output from the records of jobs that ended before a time.
func (s *Store) DropJobOutputs(ctx context.Context, before time.Time) error {
	_, err := s.db.ExecContext(ctx, `UPDATE jobs SET result = json_set(result, '$.output', '')
		WHERE state = 'done' AND ended_ns < ? AND json_valid(result) AND json_extract(result, '$.output') <> ''`, nanos(before))
	return s.explain("forget the output of old jobs", err)
}

// DeleteJob removes a job, or returns ErrNoJob.
func (s *Store) DeleteJob(ctx context.Context, id string) error {
	res, err := s.db.ExecContext(ctx, "DELETE FROM jobs WHERE id = ?", id)
	return s.requireRow("forget job "+id, ErrNoJob, res, err)
}
