package api

import (
	"errors"
	"net/http"
	"testing"
)

// TestCodes checks that each code has one complete row.
func TestCodes(t *testing.T) {
	seen := map[Code]bool{}
	for r := range Codes {
		if seen[r.Code] {
			t.Errorf("%s has two rows", r.Code)
		}
		seen[r.Code] = true
		if r.HTTP < 400 || r.HTTP > 599 || r.Exit == 0 || r.RefusedExit < RefusedNeedsApproval || r.Text == "" || r.Hint == "" {
			t.Errorf("%+v", r)
		}
		e := Errorf(r.Code, "%d of %s", 3, "them")
		if e.GetStatus() != r.HTTP || e.ExitStatus() != r.Exit || e.RefusedStatus() != r.RefusedExit || r.Code.Hint() != r.Hint {
			t.Errorf("%s: %d, %d, %d", r.Code, e.GetStatus(), e.ExitStatus(), e.RefusedStatus())
		}
		if e.Error() != "3 of them" || e.WithHint("try %d", 4).Error() != "3 of them; try 4" || e.Retry || !e.Retryable().Retry {
			t.Errorf("%v", e)
		}
	}
	for range Codes { // a loop may end early
		break
	}
	unknown := Errorf("of_tomorrow", "what")
	if unknown.GetStatus() != http.StatusInternalServerError || unknown.ExitStatus() != ExitFailure || unknown.RefusedStatus() != ExitOwnFailure {
		t.Errorf("%+v", unknown)
	}
	if !errors.Is(unknown, error(unknown)) {
		t.Error("an error does not match itself")
	}
}

func TestCodeOfExit(t *testing.T) {
	for status, want := range map[int]Code{
		ExitTimeout: CodeTimeout, RefusedNeedsInput: CodeNeedsInput, ExitInterrupted: CodeCanceled, ExitNoProgram: CodeNoProgram,
		ExitOwnFailure: CodeInternal, ExitFailure: CodeInternal, ExitUsage: CodeInternal, 0: CodeInternal, 77: CodeInternal,
	} {
		if got := CodeOfExit(status); got != want {
			t.Errorf("%d: %s, want %s", status, got, want)
		}
	}
}

func TestCodeOfHTTP(t *testing.T) {
	for status, want := range map[int]Code{
		http.StatusNotFound: CodeNotFound, http.StatusBadRequest: CodeInvalid, http.StatusUnprocessableEntity: CodeInvalid,
		http.StatusRequestEntityTooLarge: CodeInvalid, http.StatusRequestTimeout: CodeInvalid,
		http.StatusInternalServerError: CodeInternal, http.StatusBadGateway: CodeInternal,
	} {
		if got := CodeOfHTTP(status); got != want {
			t.Errorf("%d: %s, want %s", status, got, want)
		}
	}
}
