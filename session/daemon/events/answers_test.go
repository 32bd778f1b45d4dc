//go:build unix

package events

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestAnswers checks that a question ends with the first client that did it, or with the last that refused. Late
// answers are not awaited.
//
// FEATURES: R117
func TestAnswers(t *testing.T) {
	type answer struct {
		by  int
		why string
	}
	for _, c := range []struct {
		name    string
		from    []int
		answers []answer
		did     bool
		late    bool
	}{
		{"one did it, the others are not waited for", []int{1, 2, 3}, []answer{{1, "no pane"}, {2, ""}}, true, false},
		{"all refuse", []int{1, 2}, []answer{{1, "no pane"}, {2, "not shown"}}, false, false},
		{"one refuses, the other is late", []int{1, 2}, []answer{{1, "no pane"}}, false, true},
		{"another refuses first", []int{1}, []answer{{9, "no pane"}, {1, ""}}, true, false},
		{"another does it", []int{1}, []answer{{9, ""}}, true, false},
		{"nobody answers", []int{1}, nil, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var a Answers
				listeners := map[int]bool{}
				for _, by := range c.from {
					listeners[by] = true
				}
				q, begun := a.Ask(listeners), time.Now()
				var want []string
				for _, said := range c.answers {
					if !a.Answer(q.ID, said.by, said.why) {
						t.Errorf("%q is not waited for", said.why)
					}
					if said.why == "" {
						continue
					}
					want = append(want, said.why)
					a.Answer(q.ID, said.by, "said twice")
				}
				did, refused := q.Await(t.Context(), time.Second)
				if did != c.did || !slices.Equal(refused, want) || time.Since(begun) == time.Second != c.late {
					t.Errorf("%v, %q after %v", did, refused, time.Since(begun))
				}
				if a.Answer(q.ID, 1, "") || len(a.open) > 0 {
					t.Error("it is still awaited")
				}
			})
		})
	}
}
