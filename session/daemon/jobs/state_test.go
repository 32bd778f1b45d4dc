//go:build unix

package jobs

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/store"
)

var update = flag.Bool("update", false, "write the drawing of the states in doc.go")

// pathTo returns the triggers that lead from stateUnrecorded to a state, on the shortest path.
func pathTo(at state) []trigger {
	paths := map[state][]trigger{stateUnrecorded: nil}
	for queue := []state{stateUnrecorded}; len(queue) > 0; queue = queue[1:] {
		for t := range triggerCount {
			edge := &transitions[t]
			if _, known := paths[edge.to]; known || !edge.leaves(queue[0]) {
				continue
			}
			paths[edge.to] = append(paths[queue[0]][:len(paths[queue[0]]):len(paths[queue[0]])], t)
			queue = append(queue, edge.to)
		}
	}
	return paths[at]
}

// fire moves a job by a trigger the way the package does. It reports whether the table has the transition.
func fire(ctx context.Context, s *Set, j *Job, t trigger) bool {
	switch t {
	case triggerRecorded, triggerStartAllowed:
		return s.record(ctx, j, t) == nil
	case triggerAdopted:
		if j.state == stateUnrecorded {
			_ = s.store.AddJob(ctx, j.row()) // by the previous daemon
		}
	case triggerAllowed:
		return j.move(t, func() { _ = j.editRequest(admittedAt(time.Now())) })
	case triggerFinished:
		return j.move(t, func() { j.outcome.result, j.outcome.at = endOf(j), time.Now() })
	case triggerStarted:
		c := session.Command{Running: true}
		c.Number = 7
		j.onCommand(&c, nil)
		return j.current() == stateRunning
	}
	return j.move(t, nil)
}

// endOf returns a result that differs from any that j had before.
func endOf(j *Job) *api.Result {
	r := &api.Result{State: "exited"}
	if j.outcome.result != nil {
		r.DurationMS = j.outcome.result.DurationMS + 1
	}
	return r
}

// jobIn returns a job in a state.
func jobIn(t *testing.T, s *Set, id string, at state) *Job {
	t.Helper()
	j, err := s.newJob(registry.NewHandle(store.Session{ID: "session", Name: "n"}), api.Call{Job: id}, timeouts{}, "line", lineRecord{})
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range pathTo(at) {
		fire(t.Context(), s, j, by)
	}
	if j.state != at {
		t.Fatalf("%s instead of %s", j.state, at)
	}
	return j
}

// TestEveryTransition checks that each trigger moves a job as the table states, with its writes, and has no effect in
// any other state.
//
// FEATURES: R1
func TestEveryTransition(t *testing.T) {
	s := withSettings(t)
	if err := s.store.CreateSession(t.Context(), store.Session{ID: "session", Name: "n"}); err != nil {
		t.Fatal(err)
	}
	for from := range stateCount {
		for by := range triggerCount {
			edge := &transitions[by]
			id := fmt.Sprintf("%d-%d", from, by)
			if by == triggerStartAllowed { // its record is that of a pending start
				if err := s.store.AddJob(t.Context(), store.Job{ID: id, Session: "session", Kind: store.JobCommand, State: store.JobWaiting, Request: []byte("{}")}); err != nil {
					t.Fatal(err)
				}
				if from != stateUnrecorded {
					continue // refused by the set, because its id is taken
				}
			}
			j := jobIn(t, s, id, from)
			before, errBefore := s.store.Job(t.Context(), id)
			if by == triggerRecorded && from != stateUnrecorded {
				delete(s.live, id) // else it is refused by the set
			}
			moved := fire(t.Context(), s, j, by)
			after, errAfter := s.store.Job(t.Context(), id)
			if !edge.leaves(from) {
				if moved || j.state != from || after.State != before.State || !errors.Is(errAfter, errBefore) {
					t.Errorf("%s: %s moved it to %s: %+v, %v", from, by, j.state, after, errAfter)
				}
				continue
			}
			if !moved || j.state != edge.to {
				t.Errorf("%s: %s moves it to %s, want %s", from, by, j.state, edge.to)
			}
			switch {
			case edge.first == deleteRecord:
				if !errors.Is(errAfter, store.ErrNoJob) || s.live[id] != nil {
					t.Errorf("%s: %s changed its record to: %+v, %v", from, by, after, errAfter)
				}
			case edge.first != writeNothing || edge.then != writeNothing:
				if errAfter != nil || after.State != edge.to.recordState() || after.N != int(j.outcome.started.Number) {
					t.Errorf("%s: %s recorded %+v, %v", from, by, after, errAfter)
				}
			case by != triggerAdopted && (after.State != before.State || !errors.Is(errAfter, errBefore)):
				t.Errorf("%s: %s wrote %+v, %v", from, by, after, errAfter)
			}
			s.forget(j)
		}
	}
}

// TestTransitionsWriteFirst checks that the writes of a transition are done before its state is visible, and that
// waiters wake after both. A failed write leaves the state.
func TestTransitionsWriteFirst(t *testing.T) {
	for by := range triggerCount {
		edge := &transitions[by]
		for _, from := range edge.from {
			synctest.Test(t, func(t *testing.T) {
				m, full := &machine{state: from}, errors.New("disk full")
				woken := make(chan bool, 1)
				p := m.watch()
				go func() {
					<-p.changed
					woken <- true
				}()
				if edge.first != writeNothing {
					if err := m.apply(by, nil, func() error { return full }); !errors.Is(err, full) || m.state != from {
						t.Errorf("%s from %s: %v, %s", by, from, err, m.state)
					}
				}
				written := false
				err := m.apply(by, nil, func() error {
					synctest.Wait()
					written = m.current() == from && len(woken) == 0
					return nil
				})
				synctest.Wait()
				if err != nil || written != (edge.first != writeNothing) || m.state != edge.to || len(woken) != 1 {
					t.Errorf("%s from %s: %v, written before: %v, %s, %d woken", by, from, err, written, m.state, len(woken))
				}
			})
		}
	}
}

// TestItEndsWhileItIsWritten checks that a job that ends while its approval is written stays ended.
func TestItEndsWhileItIsWritten(t *testing.T) {
	m := &machine{state: statePendingApproval}
	err := m.apply(triggerAllowed, nil, func() error { return m.apply(triggerFailed, nil, nil) })
	if !errors.Is(err, errNoTransition) || m.state != stateEnded {
		t.Errorf("%v, %s", err, m.state)
	}
}

// TestStatesAreConnected checks that every state is reached, has a name, and is left unless it is final.
func TestStatesAreConnected(t *testing.T) {
	left := map[state]bool{stateHandedOff: true, stateDone: true, stateDropped: true} // last ones
	for by := range triggerCount {
		if triggerNames[by] == "" || len(transitions[by].from) == 0 {
			t.Errorf("trigger %d has no name, or no row", by)
		}
		for _, from := range transitions[by].from {
			left[from] = true
		}
	}
	for at := range stateCount {
		if stateNames[at] == "" || at != stateUnrecorded && pathTo(at) == nil || !left[at] {
			t.Errorf("%d: %q is not reached, or not left", at, stateNames[at])
		}
	}
}

// drawing returns the table as lines of a comment: each state with the triggers that leave it.
func drawing() string {
	var b strings.Builder
	verbs := [...]string{insertRecord: "inserts", updateRecord: "records", deleteRecord: "deletes"}
	for at := range stateCount {
		var edges []string
		for by := range triggerCount {
			edge := &transitions[by]
			if !edge.leaves(at) {
				continue
			}
			writes := ""
			if edge.first != writeNothing {
				writes = fmt.Sprintf(", first %s %s", verbs[edge.first], edge.what)
			} else if edge.then != writeNothing {
				writes = fmt.Sprintf(", then %s %s", verbs[edge.then], edge.what)
			}
			edges = append(edges, fmt.Sprintf("%-18s → %s%s", by, edge.to, writes))
		}
		fmt.Fprintf(&b, "//\t%s\n", at)
		for i, edge := range edges {
			corner := "├"
			if i == len(edges)-1 {
				corner = "└"
			}
			fmt.Fprintf(&b, "//\t%s %s\n", corner, edge)
		}
	}
	return b.String()
}

// TestDrawing checks that the drawing in the package comment is that of the table. -update writes it.
func TestDrawing(t *testing.T) {
	const file, head = "doc.go", "// The states of a job, with the triggers that leave them:\n//\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), head)
	if !found {
		t.Fatalf("%s has no drawing", file)
	}
	var drawn strings.Builder
	after := rest
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "//\t") {
			break
		}
		drawn.WriteString(line)
		after = after[len(line):]
	}
	if drawn.String() == drawing() {
		return
	}
	if !*update {
		t.Fatalf("%s differs from the table: run `go test -run TestDrawing -update`", file)
	}
	if err := os.WriteFile(file, []byte(before+head+drawing()+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// lifetimes runs a job over several daemons, and checks its invariants.
type lifetimes struct {
	t   *testing.T
	s   *Set
	id  string
	job *Job

	submitted int    // transitions that let this daemon type the line
	end       string // the first one
	result    []byte // once recorded
	dropped   bool
}

// recorded returns the record, or nil if the job has none.
func (l *lifetimes) recorded() *store.Job {
	r, err := l.s.store.Job(l.t.Context(), l.id)
	if errors.Is(err, store.ErrNoJob) {
		return nil
	}
	if err != nil {
		l.t.Fatal(err)
	}
	return &r
}

// restart simulates a kill of the daemon at any instant and the start of the next: only the record remains.
func (l *lifetimes) restart() {
	delete(l.s.live, l.id)
	r := l.recorded()
	c := api.Call{Job: l.id}
	j, err := l.s.newJob(registry.NewHandle(store.Session{ID: "session", Name: "n"}), c, timeouts{}, "line", lineRecord{})
	if err != nil {
		l.t.Fatal(err)
	}
	l.job, l.submitted, l.end, l.dropped = j, 0, "", false
	if r == nil || r.State == store.JobDone {
		return // Load does not find it
	}
	j.request, j.created = r.Request, r.Created
	j.outcome.started.Number = uint64(r.N)
	l.s.live[l.id] = j
	j.move(triggerAdopted, nil)
}

// step fires a trigger. If killed is set, the daemon is killed after the write and before the new state is visible.
func (l *lifetimes) step(by trigger, killed bool) {
	j, edge, before := l.job, &transitions[by], l.recorded()
	if from := j.state; killed && edge.leaves(from) && edge.first != writeNothing && edge.first != insertRecord && by != triggerStartAllowed {
		if by == triggerFinished {
			j.outcome.result, j.outcome.at = endOf(j), time.Now()
		}
		j.persist(edge)
		if r := l.recorded(); by == triggerFinished && r != nil {
			l.result = r.Result
		}
		l.restart()
		return
	}
	if by == triggerAdopted || by == triggerStartAllowed && (before == nil || before.State == store.JobDone) {
		return // no such record exists
	}
	from := j.state
	moved := fire(l.t.Context(), l.s, j, by)
	if moved && (by == triggerSubmitted || by == triggerAllowed || by == triggerStarted && from < stateQueued) {
		l.submitted++
	}
	l.dropped = l.dropped || moved && by == triggerDropped
	if moved && j.state == stateEnded {
		l.end += by.String()
	}
	if moved && by == triggerFinished {
		if len(l.result) > 0 {
			l.t.Error("it has a second result")
		}
		l.result = l.recorded().Result
	}
	if r := l.recorded(); moved && by == triggerAllowed && !strings.Contains(string(r.Request), "admitted") {
		l.t.Errorf("allowed, and its record differs: %s", r.Request)
	}
	j.save() // by other goroutines at any time
	l.check(before)
}

func (l *lifetimes) check(before *store.Job) {
	j, after := l.job, l.recorded()
	if l.submitted > 1 || l.end != "" && l.end != triggerExited.String() && l.end != triggerFailed.String() {
		l.t.Errorf("submitted %d times, ended by %q", l.submitted, l.end)
	}
	switch {
	case j.state == stateUnrecorded:
	case j.state == stateDropped && l.dropped:
		if after != nil {
			l.t.Errorf("the record changed back: %+v", after)
		}
	case j.state != stateDropped && after == nil:
		l.t.Errorf("%s without a record", j.state)
	case j.state != stateDropped && (after.State == store.JobDone) != (j.state == stateDone):
		l.t.Errorf("%s, and its record has %s", j.state, after.State)
	}
	if after == nil {
		return
	}
	if len(l.result) > 0 && string(after.Result) != string(l.result) || (after.State == store.JobDone) != (len(after.Result) > 0) {
		l.t.Errorf("%s with result %s, before %s", after.State, after.Result, l.result)
	}
	if before != nil && (after.N < before.N || before.State == store.JobDone && after.State != store.JobDone) {
		l.t.Errorf("its record changes back: %+v after %+v", after, before)
	}
}

// FuzzTriggers checks that triggers in any order, with kills of the daemon between and during them, submit a line at
// most once by each daemon, end it once, and never lose or change its result.
func FuzzTriggers(f *testing.F) {
	f.Add([]byte{0, 4, 5, 6, 7, 8, 10, 10})   // allowed, runs, ends
	f.Add([]byte{0, 6, 7, 200, 6, 8, 10, 10}) // a restart while it runs
	f.Add([]byte{0, 11, 0, 6, 9, 138, 7})     // dropped, submitted again, killed while its result is written
	f.Add([]byte{0, 4, 133, 4, 9, 10, 200, 0})
	f.Add([]byte{0, 12, 200, 6, 6, 7, 7, 8, 9, 8, 10})
	st, err := store.Open(filepath.Join(f.TempDir(), "longterm.db"))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = st.Close() })
	if err := st.CreateSession(context.Background(), store.Session{ID: "session", Name: "n"}); err != nil {
		f.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	n := 0
	f.Fuzz(func(t *testing.T, steps []byte) {
		n++
		l := &lifetimes{t: t, s: New(registry.New(registry.Config{Log: log, Store: st}), st, nil, log, nil), id: strconv.Itoa(n)}
		l.restart()
		for _, b := range steps[:min(len(steps), 64)] {
			if by := trigger(b & 0x7f); by < triggerCount {
				l.step(by, b >= 0x80)
			} else {
				l.restart()
			}
		}
	})
}

// TestJobIsSmall checks that a job's type stays small: its states are in the machine, not in flags and channels.
func TestJobIsSmall(t *testing.T) {
	job, channels := reflect.TypeFor[Job](), 0
	for _, of := range []reflect.Type{job, reflect.TypeFor[machine](), reflect.TypeFor[previous](), reflect.TypeFor[outcome]()} {
		for i := range of.NumField() {
			if of.Field(i).Type.Kind() == reflect.Chan {
				channels++
			}
		}
	}
	if job.NumField() > 25 || channels > 3 {
		t.Errorf("%d fields, %d channels", job.NumField(), channels)
	}
}

// TestStop_WaitsForPreparingJobs checks that a caller that is interrupted at once stops a job whose request is still
// being decided: Stop waits for the decision.
func TestStop_WaitsForPreparingJobs(t *testing.T) {
	s := testJobs(t)
	j := jobIn(t, s, "preparing", statePreparing)
	stopped := make(chan error, 1)
	go func() {
		_, err := s.Stop(t.Context(), j.id, 0, false)
		stopped <- err
	}()
	select {
	case err := <-stopped:
		t.Errorf("it did not wait: %v", err)
	case <-time.After(100 * time.Millisecond): // a Stop that does not wait returns within this time
	}
	s.forget(j)
	fire(t.Context(), s, j, triggerDropped)
	if err := <-stopped; err == nil {
		t.Error("a job that was not started was stopped")
	}
}

// TestRecordState_OfAdoptedJobs checks that a job that had started under the previous daemon is running while this
// daemon adopts it.
//
// FEATURES: R17
func TestRecordState_OfAdoptedJobs(t *testing.T) {
	for started, want := range map[bool]string{true: store.JobRunning, false: store.JobWaiting} {
		if got := (&Job{previous: previous{hadStarted: started}}).recordState(stateAdopting); got != want {
			t.Errorf("started %v: %q, want %q", started, got, want)
		}
	}
}

// TestIsNotAccepted checks that an incomplete single line was rejected even if its shell, which marks no starts, seems
// to have started it.
//
// FEATURES: R12
func TestIsNotAccepted(t *testing.T) {
	for _, c := range []struct {
		err    error
		number uint64
		line   string
		want   bool
	}{
		{session.ErrIncomplete, 0, "if true; then", true},
		{session.ErrIncomplete, 0, "echo one\necho 'open", true},
		{session.ErrIncomplete, 3, "if true; then", true},
		{session.ErrIncomplete, 3, "echo one\necho 'open", false}, // echo ran
		{session.ErrRefused, 3, "true", false},
		{session.ErrBusy, 0, "true", true},
		{errors.New("another"), 0, "true", false},
	} {
		started := session.Command{}
		started.Number = c.number
		if got := isNotAccepted(c.err, &started, c.line); got != c.want {
			t.Errorf("%v, number %d, %q: %v", c.err, c.number, c.line, got)
		}
	}
}
