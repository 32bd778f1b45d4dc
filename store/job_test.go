package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

func fullJob(id string, at int64) Job {
	began := time.Unix(1_700_000_000, at)
	return Job{
		ID: id, Session: "1", Kind: JobLine, Line: "make -j 'ü'", State: JobDone, N: 7, Request: []byte(`{"a":1}`), Result: []byte(`{"b":2}`),
		Created: began, Ended: began.Add(time.Second),
	}
}

func TestFullJobIsFull(t *testing.T) {
	v := reflect.ValueOf(fullJob("x", 1))
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("%s is not set", v.Type().Field(i).Name)
		}
	}
	if v.NumField() != len(jobColumns) {
		t.Errorf("%d fields, %d columns", v.NumField(), len(jobColumns))
	}
}

// FEATURES: R18
func TestJobs(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "longterm.db")
	s := openTest(t, path)
	for i := range 5 {
		j := fullJob(fmt.Sprint("id-", i), int64(i))
		j.State, j.Result, j.Ended = JobRunning, nil, time.Time{}
		must(t, s.AddJob(ctx, j))
	}
	if err := s.AddJob(ctx, fullJob("id-0", 0)); !errors.Is(err, ErrJobExists) {
		t.Errorf("a second job with an id: %v", err)
	}
	want := fullJob("id-3", 3)
	must(t, s.UpdateJob(ctx, want))
	if err := s.UpdateJob(ctx, fullJob("nosuch", 0)); !errors.Is(err, ErrNoJob) {
		t.Errorf("update of no job: %v", err)
	}
	must(t, s.Close())

	s = openTest(t, path)
	got, err := s.Job(ctx, "id-3")
	must(t, err)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("job\n%+v\nwant\n%+v", got, want)
	}
	if _, err := s.Job(ctx, "nosuch"); !errors.Is(err, ErrNoJob) {
		t.Errorf("no job: %v", err)
	}
	ids := func(q JobQuery) (list []string) {
		jobs, err := s.Jobs(ctx, q)
		must(t, err)
		for _, j := range jobs {
			list = append(list, j.ID)
		}
		return list
	}
	for _, c := range []struct {
		q    JobQuery
		want []string
	}{
		{JobQuery{}, []string{"id-4", "id-3", "id-2", "id-1", "id-0"}},
		{JobQuery{Open: true, Limit: 2}, []string{"id-4", "id-2"}},
		{JobQuery{Prefix: "id-1"}, []string{"id-1"}},
		{JobQuery{Prefix: "i_"}, nil},
		{JobQuery{Session: "2"}, nil},
	} {
		if got := ids(c.q); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.q, got, c.want)
		}
	}
	must(t, s.UpdateJob(ctx, fullJob("id-0", 0)))
	must(t, s.PruneJobs(ctx, 3)) // of the ended ones, id-3 is among the newest three
	if got, want := ids(JobQuery{}), []string{"id-4", "id-3", "id-2", "id-1"}; !reflect.DeepEqual(got, want) {
		t.Errorf("after pruning: %v, want %v", got, want)
	}
	must(t, s.DeleteJob(ctx, "id-4"))
	if err := s.DeleteJob(ctx, "id-4"); !errors.Is(err, ErrNoJob) {
		t.Errorf("forgotten twice: %v", err)
	}
}

// TestJobs_DropOutputs checks that the output in the record of a successful run is dropped after a day, and that jobs
// are found by their line and kind.
//
// FEATURES: R127
func TestJobs_DropOutputs(t *testing.T) {
	s, ctx := openTest(t, filepath.Join(t.TempDir(), "longterm.db")), t.Context()
	now := time.Now()
	for id, ended := range map[string]time.Time{"old-1": now.Add(-48 * time.Hour), "new-1": now} {
		must(t, s.AddJob(ctx, Job{ID: id, Kind: JobCommand, Line: "make test", State: JobDone, Result: []byte(`{"output":"ok","exit_code":0}`), Created: ended, Ended: ended}))
	}
	must(t, s.AddJob(ctx, Job{ID: "odd-1", Kind: JobLine, Line: "make test", State: JobDone, Result: []byte(`no JSON`), Created: now, Ended: now.Add(-48 * time.Hour)}))
	must(t, s.DropJobOutputs(ctx, now.Add(-24*time.Hour)))
	for id, want := range map[string]string{"old-1": `{"output":"","exit_code":0}`, "new-1": `{"output":"ok","exit_code":0}`, "odd-1": "no JSON"} {
		if j, err := s.Job(ctx, id); err != nil || string(j.Result) != want {
			t.Errorf("%s: %s, %v", id, j.Result, err)
		}
	}
	list, err := s.Jobs(ctx, JobQuery{Text: "MAKE", Kind: JobCommand})
	if err != nil || len(list) != 2 || list[0].ID != "new-1" {
		t.Errorf("found %v, %v", list, err)
	}
}
