// Package exit defines how the command line ends: errors that carry an exit status, and the status, message and JSON of
// any error. The table in session/api holds the codes and their statuses. This package knows no verb.
package exit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/longterm-dev/longterm/session/api"
)

// Error is an error that ends the program with an exit status.
type Error struct {
	code int
	Err  error // nil: the verb has printed everything
}

func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// UsageError is an error in the command line.
type UsageError struct{ err error }

func (e UsageError) Error() string { return e.err.Error() }

// Usagef makes an error of usage.
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// Silent returns an error that ends the program with a status and no message.
func Silent(code int) error { return &Error{code: code} }

// With returns an error that ends the program with a status and the message of err.
func With(code int, err error) error { return &Error{code: code, Err: err} }

// Usage returns err as an error of usage.
func Usage(err error) error { return UsageError{err} }

// IsInterrupted reports whether an error is only an interruption.
func IsInterrupted(err error) bool {
	var e *api.Error
	return errors.Is(err, context.Canceled) && !errors.As(err, &e)
}

// APIError returns an error in the API's form.
func APIError(err error) *api.Error {
	var e *api.Error
	var exit *Error
	var usage UsageError
	code := api.CodeInternal
	switch {
	case errors.As(err, &e):
		out := *e
		if out.Hint == "" {
			out.Hint = e.Code.Hint()
		}
		return &out
	case errors.As(err, &usage):
		code = api.CodeInvalid
	case IsInterrupted(err):
		code = api.CodeCanceled
	case errors.As(err, &exit):
		switch exit.code {
		case api.ExitTimeout:
			code = api.CodeTimeout
		case api.RefusedNeedsInput:
			code = api.CodeNeedsInput
		case api.RefusedNeedsApproval:
			code = api.CodeNeedsApproval
		case api.ExitInterrupted:
			code = api.CodeCanceled
		}
	}
	msg, hint, _ := strings.Cut(strings.ReplaceAll(err.Error(), "\n", "; "), "; ")
	if code == api.CodeCanceled && msg == context.Canceled.Error() {
		msg = "interrupted"
	}
	if hint == "" {
		hint = code.Hint()
	}
	return &api.Error{Code: code, Message: msg, Hint: hint}
}

// Refusal returns err with exit status 126, unless it has one: the command did not start, and commands seldom exit with
// 126 themselves.
func Refusal(err error) error {
	var e *api.Error
	if errors.As(err, &e) {
		return &Error{e.RefusedStatus(), err}
	}
	if IsInterrupted(err) {
		return &Error{api.ExitInterrupted, err}
	}
	return &Error{api.ExitOwnFailure, err}
}

// Internal returns err with an exit status for failures of longterm itself before the command started, which commands
// seldom use.
func Internal(err error) error {
	var e *Error
	if err == nil || errors.As(err, &e) || Status(err) != api.ExitFailure {
		return err
	}
	return &Error{api.ExitOwnFailure, err}
}

// NotAllowed returns the error of a command that did not run because a rule or the user denied it.
func NotAllowed(r *api.Result) *api.Error {
	e := &api.Error{Code: api.CodeDenied, Message: r.Error, Hint: r.Hint, Policy: r.Policy, Approval: r.Approval}
	if r.Approval != "" {
		e.Code = api.CodeRejected
	}
	return e
}

// DeniedStatus returns the exit status of NotAllowed.
func DeniedStatus(r *api.Result) int { return NotAllowed(r).RefusedStatus() }

// FromPolicy returns err with the exit status of a denied command if rules or a user denied it, as run and exec do.
func FromPolicy(err error) error {
	var e *api.Error
	if errors.As(err, &e) && (e.Code == api.CodeDenied || e.Code == api.CodeRejected || e.Code == api.CodeNeedsApproval) {
		return Refusal(err)
	}
	return err
}

// Status returns the exit status of an error (docs/errors.md).
func Status(err error) int {
	var apiErr *api.Error
	var exit *Error
	var usage UsageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.code
	case errors.As(err, &apiErr):
		return apiErr.ExitStatus()
	case errors.As(err, &usage):
		return api.ExitUsage
	case errors.Is(err, context.Canceled):
		return api.ExitInterrupted
	}
	return api.ExitFailure
}

// IsSilent reports whether an error is only a status, without a message to print.
func IsSilent(err error) bool {
	var exit *Error
	return errors.As(err, &exit) && exit.Err == nil
}
