//go:build unix

package compareruns

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/excerpt"
	"github.com/longterm-dev/longterm/session/output/compare"
	"github.com/longterm-dev/longterm/session/output/diagnostics"
	"github.com/longterm-dev/longterm/store"
)

// Bounds of the lists in an answer.
const (
	maxNewLines = 12
	maxListed   = 20
	compareTime = 30 * time.Second // for both outputs
)

// Query names the runs to compare.
type Query struct {
	Session string // id, name or unique prefix of a session or job
	N       int    // its command; 0: its newest failed one, or its program
	// Against names the run to compare with, in the same way; "": the newest good one.
	Against  string
	AgainstN int
	Hide     bool // secrets are masked
}

// Explain compares a run with a good one.
func (f *Finder) Explain(ctx context.Context, parser *diagnostics.Parser, q Query) (api.Why, error) {
	failed, err := f.resolve(ctx, q.Session, q.N)
	if err != nil {
		return api.Why{}, err
	}
	w := api.Why{Run: f.view(failed)}
	if failed.State == store.CommandRunning {
		w.Notes = append(w.Notes, "still running: compared so far")
	}
	good, err := f.counterpart(ctx, &w, failed, &q)
	if err != nil {
		return w, err
	}
	is, err := f.parse(ctx, parser, failed)
	if err != nil {
		return w, err
	}
	if good == nil {
		w.FirstError, err = firstError(ctx, failed, &is.Result, q.Hide)
		return w, err
	}
	view := f.view(good)
	w.Good = &view
	was, err := f.parse(ctx, parser, good)
	if err != nil {
		return w, err
	}
	w.Changes = shortenChanges(diagnostics.Compare(was, is))
	w.SlowerMS = w.Slower.Milliseconds()
	if err := compareOutput(ctx, &w, good, failed, q.Hide); err != nil {
		return w, err
	}
	if w.Variables, err = f.variables(ctx, good, failed); err != nil {
		return w, err
	}
	compareTrees(ctx, &w, good, failed)
	return w, nil
}

// counterpart returns the run to compare with, or nil.
func (f *Finder) counterpart(ctx context.Context, w *api.Why, failed *run, q *Query) (*run, error) {
	if q.Against != "" {
		good, err := f.resolve(ctx, q.Against, q.AgainstN)
		w.Match = "given"
		return good, err
	}
	s, err := f.good(ctx, failed)
	if err != nil {
		return nil, err
	}
	w.Recent, w.RecentBad, w.Match = s.recent, s.bad, matchNames[s.match]
	if s.best != nil && failed.before(s.best) {
		w.Notes = append(w.Notes, "no good run before it is known; compared with one after it")
	}
	return s.best, nil
}

func (f *Finder) view(r *run) api.ComparedRun {
	name := api.ShortID(r.Session)
	if r.handle != nil {
		name = r.handle.Record().Name
	}
	return api.ComparedRun{
		Session: r.Session, Name: name, Command: r.N, Line: r.Text, Cwd: r.Cwd, State: r.State, ExitCode: r.ExitCode, Signal: r.Signal,
		Started: r.Started, Ended: r.Ended, DurationMS: r.duration().Milliseconds(), Output: api.Range{Start: r.From, End: r.end()},
	}
}

// eachLine calls f with each line of the output. It reports whether it left a part out.
func (r *run) eachLine(ctx context.Context, hide bool, f func([]byte)) (partial bool, err error) {
	if r.handle != nil {
		partial, err = excerpt.EachLine(ctx, r.handle.Session, r.From, r.end(), hide, f)
		if errors.Is(err, context.DeadlineExceeded) {
			return true, nil
		}
		return partial, err
	}
	for line := range strings.Lines(r.text) {
		f([]byte(strings.TrimRight(line, "\r\n")))
	}
	return false, nil
}

// end returns the end of the output so far.
func (r *run) end() uint64 {
	if r.To > 0 || r.State != store.CommandRunning {
		return max(r.To, r.From)
	}
	_, end := r.handle.Session.OutputRange()
	return max(end, r.From)
}

// duration returns how long the run took.
func (r *run) duration() time.Duration {
	end := r.Ended
	if r.State == store.CommandRunning {
		end = time.Now()
	}
	if end.IsZero() || r.Started.IsZero() {
		return 0
	}
	return max(0, end.Sub(r.Started)) // a clock may have been set back
}

// parse reads a run's output as that of a known program.
func (f *Finder) parse(ctx context.Context, parser *diagnostics.Parser, r *run) (*diagnostics.Run, error) {
	if r.handle == nil {
		return &diagnostics.Run{Exit: r.ExitCode, Duration: r.duration(), Result: parser.Parse(r.Text, r.ExitCode, r.text)}, nil
	}
	res, _, err := excerpt.Parse(ctx, parser, r.handle.Session, r.Text, r.ExitCode, r.From, r.end())
	return &diagnostics.Run{Exit: r.ExitCode, Signal: r.Signal, Duration: r.duration(), Result: res}, err
}

// compareOutput compares the lines of both runs.
func compareOutput(ctx context.Context, w *api.Why, good, failed *run, hide bool) error {
	ctx, cancel := context.WithTimeout(ctx, compareTime)
	defer cancel()
	g := compare.NewGoodRun()
	cut, err := good.eachLine(ctx, hide, g.Add)
	if err != nil {
		return err
	}
	c := compare.NewComparison(g)
	cut2, err := failed.eachLine(ctx, hide, c.Add)
	if err != nil {
		return err
	}
	r := c.Finish()
	w.New, w.NewLines = linesOf(r.Pick(maxNewLines)), r.NewLines
	w.Missing, w.MissingLines = linesOf(r.Missing), r.MissingLines
	w.Partial = cut || cut2 || r.Partial
	for _, v := range r.Versions {
		w.Versions = append(w.Versions, api.WhyVersion(v))
	}
	return nil
}

// linesOf returns lines in their API form.
func linesOf(list []compare.Line) []api.WhyLine {
	var lines []api.WhyLine
	for _, l := range list {
		lines = append(lines, api.WhyLine{Number: l.Number, Text: l.Text, Telling: l.IsLikelyCause})
	}
	return lines
}

// shortenChanges shortens the lists of changes.
func shortenChanges(c diagnostics.Changes) diagnostics.Changes {
	c.NewErrors, c.FixedErrors = firstListed(c.NewErrors), firstListed(c.FixedErrors)
	c.NewFailures, c.FixedTests = firstListed(c.NewFailures), firstListed(c.FixedTests)
	return c
}

// firstListed returns the first maxListed elements.
func firstListed[T any](list []T) []T { return list[:min(len(list), maxListed)] }

// firstError returns the first error of a run that cannot be compared: that of the parsed output, else the first line that reads
// like one.
func firstError(ctx context.Context, r *run, res *diagnostics.Result, hide bool) (*api.WhyLine, error) {
	c := compare.NewComparison(compare.NewGoodRun()) // all lines are new
	if _, err := r.eachLine(ctx, hide, c.Add); err != nil {
		return nil, err
	}
	if e := res.Summary.FirstError; e != nil {
		return &api.WhyLine{Number: e.At + 1, Text: e.Text, Telling: true}, nil
	}
	found := c.Finish()
	for _, l := range linesOf(found.New) {
		if l.Telling {
			return &l, nil
		}
	}
	return nil, nil
}

// compareTrees finds what changed in the run's directory between both runs.
func compareTrees(ctx context.Context, w *api.Why, good, failed *run) {
	first, second := good, failed
	if failed.before(good) {
		first, second = failed, good
	}
	if failed.Cwd == "" {
		w.Notes = append(w.Notes, "changed files unknown: the shell does not report its directory")
		return
	}
	if first.Ended.After(second.Started) {
		if first.Session == second.Session {
			w.Notes = append(w.Notes, "changed files unknown: the clock was set back between the runs")
			return
		}
		if first.Started.After(second.Started) {
			return
		}
	}
	since := first.Ended
	if since.IsZero() || since.After(second.Started) {
		since = first.Started
	}
	if good.Cwd != failed.Cwd {
		w.Notes = append(w.Notes, fmt.Sprintf("the good run was in another directory (%s); files and commits are those of %s", good.Cwd, failed.Cwd))
	}
	t := readTree(ctx, failed.Cwd, since, second.Started)
	w.Commits, w.Dropped, w.Committed = t.commits, t.dropped, firstListed(t.committed)
	w.Files, w.Locks, w.FileCount = t.files, firstListed(t.locks), t.count
	w.Notes = append(w.Notes, t.notes...)
}
