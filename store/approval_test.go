package store

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

func fullApproval(n int64) Approval {
	at := time.Unix(1_700_000_000, n)
	return Approval{N: n, State: ApprovalPending, Kind: "line", Session: "s", Body: []byte(`{"a":1}`), Requested: at, Ended: at.Add(1)}
}

func TestFullApprovalIsFull(t *testing.T) {
	g := Grant{N: 1, Session: "s", Kind: "line", Rule: "r", Prefix: []string{"git", "push"}, Exact: "x", Dir: "/p", Commands: "ab", Approval: 1, Created: time.Unix(1, 0)}
	for _, row := range []struct {
		v       reflect.Value
		columns int
	}{
		{reflect.ValueOf(fullApproval(1)), len(approvalColumns)},
		{reflect.ValueOf(g), len(grantColumns) + 1},
	} {
		for i := range row.v.NumField() {
			if row.v.Field(i).IsZero() {
				t.Errorf("%s is not set", row.v.Type().Field(i).Name)
			}
		}
		if row.v.NumField() != row.columns {
			t.Errorf("%s: %d fields, %d columns", row.v.Type(), row.v.NumField(), row.columns)
		}
	}
}

// FEATURES: R63
func TestApprovals(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "longterm.db")
	s := openTest(t, path)
	if n, err := s.LastApproval(ctx); n != 0 || err != nil {
		t.Errorf("of none: %d %v", n, err)
	}
	for n := int64(1); n <= 5; n++ {
		must(t, s.PutApproval(ctx, fullApproval(n), "job-"+string(rune('0'+n))))
	}
	must(t, s.PutApproval(ctx, fullApproval(2), "job-x")) // another request for the same
	done := fullApproval(3)
	done.State, done.Body = ApprovalAnswered, []byte(`{"b":2}`)
	must(t, s.PutApproval(ctx, done, ""))
	must(t, s.Close())
	s = openTest(t, path)
	if a, err := s.ApprovalOf(ctx, "job-3"); err != nil || !reflect.DeepEqual(a, done) {
		t.Errorf("%+v %v", a, err)
	}
	if a, err := s.Approval(ctx, 2); err != nil || !reflect.DeepEqual(a, fullApproval(2)) {
		t.Errorf("%+v %v", a, err)
	}
	if _, err := s.Approval(ctx, 9); !errors.Is(err, ErrNoApproval) {
		t.Error(err)
	}
	if _, err := s.ApprovalOf(ctx, "nosuch"); !errors.Is(err, ErrNoApproval) {
		t.Error(err)
	}
	waiting, err := s.PendingRequests(ctx)
	want := []ApprovalRequest{{"job-1", 1}, {"job-2", 2}, {"job-x", 2}, {"job-4", 4}, {"job-5", 5}}
	if err != nil || !reflect.DeepEqual(waiting, want) {
		t.Errorf("%v %v", waiting, err)
	}
	for _, row := range []struct {
		q    ApprovalQuery
		want []int64
	}{
		{ApprovalQuery{}, []int64{5, 4, 3, 2, 1}}, {ApprovalQuery{Pending: true, Limit: 3}, []int64{5, 4, 2}},
		{ApprovalQuery{Session: "other"}, nil},
	} {
		list, err := s.Approvals(ctx, row.q)
		var got []int64
		for _, a := range list {
			got = append(got, a.N)
		}
		if err != nil || !reflect.DeepEqual(got, row.want) {
			t.Errorf("%+v: %v %v", row.q, got, err)
		}
	}
	must(t, s.PruneApprovals(ctx, 0))
	if _, err := s.Approval(ctx, 3); !errors.Is(err, ErrNoApproval) {
		t.Error("an old one stays: ", err)
	}
	if _, err := s.ApprovalOf(ctx, "job-2"); err != nil {
		t.Error("a pending one went: ", err)
	}
	if n, err := s.LastApproval(ctx); n != 5 || err != nil {
		t.Errorf("%d %v", n, err)
	}
}

func TestGrants(t *testing.T) {
	ctx := context.Background()
	s := openTest(t, filepath.Join(t.TempDir(), "longterm.db"))
	g := Grant{Session: "s", Kind: "line", Rule: "hard:remove", Prefix: []string{"rm", "-r"}, Approval: 7, Created: time.Unix(1_700_000_000, 1)}
	var err error
	g.N, err = s.AddGrant(ctx, g)
	must(t, err)
	exact := Grant{Session: "s", Kind: "line", Rule: "unknown", Exact: "x=$y; $x", Dir: "/p", Commands: "ab", Approval: 8, Created: time.Unix(1_700_000_000, 2)}
	exact.N, err = s.AddGrant(ctx, exact)
	must(t, err)
	list, err := s.Grants(ctx)
	if err != nil || !reflect.DeepEqual(list, []Grant{g, exact}) {
		t.Errorf("%+v %v", list, err)
	}
	must(t, s.DeleteGrant(ctx, g.N))
	if err := s.DeleteGrant(ctx, g.N); !errors.Is(err, ErrNoGrant) {
		t.Error(err)
	}
}
