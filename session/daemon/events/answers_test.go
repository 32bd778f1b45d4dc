//go:build unix

package events

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// What was asked is known with the first who did it, or with the last who refused; who is late is not waited for.
//
// FEATURES: R117
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name    string
		from    int
		answers []string
		did     bool
		late    bool
	}{
		{"one did it, the others are not waited for", 3, []string{"no pane", ""}, true, false},
		{"all refuse", 2, []string{"no pane", "not shown"}, false, false},
		{"one refuses, the other is late", 2, []string{"no pane"}, false, true},
		{"nobody answers", 1, nil, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var a Answers
				q, begun := a.Ask(c.from), time.Now()
				var want []string
				for _, why := range c.answers {
					if !a.Answer(q.ID, why) {
						t.Errorf("%q is not waited for", why)
					}
					if why != "" {
						want = append(want, why)
					}
				}
				did, refused := q.Await(t.Context(), time.Second)
				if did != c.did || !slices.Equal(refused, want) || time.Since(begun) == time.Second != c.late {
					t.Errorf("%v, %q after %v", did, refused, time.Since(begun))
				}
				if a.Answer(q.ID, "") || len(a.open) > 0 {
					t.Error("it is waited for still")
				}
			})
		})
	}
}
