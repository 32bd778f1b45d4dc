//go:build unix

package jobs

import (
	"context"
	"net/http"

	"github.com/longterm-dev/longterm/session/api"
)

// A session that is kept only for its result is removed after the client has the result, and not before: an answer may
// break off, and the client asks again then.

// answerCallbacks collects the functions that run after the answer to a request has been written.
type answerCallbacks struct{ todo []func() }

type afterwardsKey struct{}

// afterAnswer calls f after the answer to the request has been written to its connection, before the client sees its
// end. f is not called if the write fails.
func afterAnswer(ctx context.Context, f func()) {
	if a, ok := ctx.Value(afterwardsKey{}).(*answerCallbacks); ok {
		a.todo = append(a.todo, f)
	}
}

// AfterAnswers runs what a handler passed to afterAnswer, after the handler's answer. afterAnswer must be called on the
// goroutine of the request.
func AfterAnswers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var a answerCallbacks
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), afterwardsKey{}, &a)))
		if len(a.todo) == 0 || http.NewResponseController(w).Flush() != nil {
			return
		}
		for _, f := range a.todo {
			f()
		}
	})
}

// RunHook runs a command without a user to its end. If it is called again with the job's id, it waits for that job. It
// removes the session at the end.
func (s *Set) RunHook(ctx context.Context, x api.Run) (api.Result, error) {
	r, err := s.Run(ctx, x)
	if e := s.reg.ByID(r.Session); err == nil && e != nil && e.IsReady() && r.State != "running" {
		s.removeReadSession(e)
	}
	return r, err
}
