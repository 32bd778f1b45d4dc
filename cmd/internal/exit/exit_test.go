package exit

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

func TestStatus(t *testing.T) {
	gone := api.Errorf(api.CodeNotFound, "no session x")
	for _, c := range []struct {
		name   string
		err    error
		status int
		code   api.Code
		silent bool
	}{
		{"none", nil, 0, "", false},
		{"any", errors.New("disk full"), api.ExitFailure, api.CodeInternal, false},
		{"usage", Usagef("--size %q", "x"), api.ExitUsage, api.CodeInvalid, false},
		{"wrapped usage", fmt.Errorf("a: %w", Usage(errors.New("b"))), api.ExitUsage, api.CodeInvalid, false},
		{"the API's", gone, api.ExitNotFound, api.CodeNotFound, false},
		{"a refusal", Refusal(gone), api.RefusedNotFound, api.CodeNotFound, false},
		{"a refusal of our own", Refusal(errors.New("x")), api.ExitOwnFailure, api.CodeInternal, false},
		{"a failure of our own", Internal(errors.New("x")), api.ExitOwnFailure, api.CodeInternal, false},
		{"a command's own is not ours", Internal(Silent(1)), 1, "", true},
		{"one's own usage", Internal(Usagef("x")), api.ExitUsage, api.CodeInvalid, false},
		{"one's own, not there", Internal(gone), api.ExitNotFound, api.CodeNotFound, false},
		{"interrupted on our own", Internal(context.Canceled), api.ExitInterrupted, api.CodeCanceled, false},
		{"interrupted", fmt.Errorf("wait: %w", context.Canceled), api.ExitInterrupted, api.CodeCanceled, false},
		{"interrupted, refused", Refusal(context.Canceled), api.ExitInterrupted, api.CodeCanceled, false},
		{"a command's own", Silent(3), 3, "", true},
		{"joined", errors.Join(nil, Silent(3)), 3, "", true},
		{"timeout", With(api.ExitTimeout, errors.New("late")), api.ExitTimeout, api.CodeTimeout, false},
	} {
		if got := Status(c.err); got != c.status {
			t.Errorf("%s: status %d, want %d", c.name, got, c.status)
		}
		if got := IsSilent(c.err); got != c.silent {
			t.Errorf("%s: silent %v", c.name, got)
		}
		if c.code == "" {
			continue
		}
		if e := APIError(c.err); e.Code != c.code || e.Message == "" || e.Hint == "" {
			t.Errorf("%s: %+v", c.name, e)
		}
	}
}

// TestAPIErrorHint checks that the lines after a message's first line are its hint.
func TestAPIErrorHint(t *testing.T) {
	if e := APIError(errors.New("it failed\ntry again")); e.Message != "it failed" || e.Hint != "try again" {
		t.Errorf("%+v", e)
	}
	if e := APIError(context.Canceled); e.Message != "interrupted" {
		t.Errorf("%+v", e)
	}
}
