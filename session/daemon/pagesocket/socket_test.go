//go:build unix

package pagesocket

import (
	"errors"
	"net/http/httptest"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// TestTooManyPages checks that the number of sockets is bounded, and rejected ones are not counted.
func TestTooManyPages(t *testing.T) {
	var s Sockets
	s.open.Store(maxSockets)
	var e *api.Error
	if err := s.Serve(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)); !errors.As(err, &e) || e.Code != api.CodeLimit {
		t.Errorf("%v", err)
	}
	if n := s.open.Load(); n != maxSockets {
		t.Errorf("%d are counted", n)
	}
}
