//go:build unix

package jobs

import (
	"context"
	"net/http"

	"github.com/longterm-dev/longterm/session/api"
)

// What is there only to be read is removed once its reader has it, and not before: an
// answer may break off, and be asked for again.

// afterwards is what is to be done when the answer to a request has been written.
type afterwards struct{ todo []func() }

type afterwardsKey struct{}

// afterAnswer has f called once the answer to the request has been written to its
// connection, before the client sees its end. It is not called when that fails.
func afterAnswer(ctx context.Context, f func()) {
	if a, ok := ctx.Value(afterwardsKey{}).(*afterwards); ok {
		a.todo = append(a.todo, f)
	}
}

// answered does what is to be done after the answers of a handler. afterAnswer is for the
// goroutine of the request.
func AfterAnswers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var a afterwards
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), afterwardsKey{}, &a)))
		if len(a.todo) == 0 || http.NewResponseController(w).Flush() != nil {
			return
		}
		for _, f := range a.todo {
			f()
		}
	})
}

// RunHook runs a command that nobody looks at to its end: asked for again with its job's id, it is waited for. Its
// session is forgotten then.
func (s *Set) RunHook(ctx context.Context, x api.Run) (api.Result, error) {
	r, err := s.Run(ctx, x)
	if e := s.reg.ByID(r.Session); err == nil && e != nil && e.Ready() && r.State != "running" {
		s.doneWith(e)
	}
	return r, err
}
