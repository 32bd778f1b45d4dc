// Package exit says how the command line ends: the errors that carry an exit status, and the status, the message
// and the JSON that any error stands for. Statuses and codes themselves stand in session/api's table; this package
// knows no verb.
package exit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/longterm-dev/longterm/session/api"
)

// Error ends the program with a status.
type Error struct {
	code int
	Err  error // nil: the verb has printed what there was to say
}

func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// UsageError is a command line that makes no sense.
type UsageError struct{ err error }

func (e UsageError) Error() string { return e.err.Error() }

// Usagef makes an error of usage.
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// Silent ends the program with a status and no further word.
func Silent(code int) error { return &Error{code: code} }

// With ends the program with a status and a message.
func With(code int, err error) error { return &Error{code: code, Err: err} }

// Usage makes an error one of usage.
func Usage(err error) error { return UsageError{err} }

// IsInterrupted says that an error is nothing but an interruption.
func IsInterrupted(err error) bool {
	var e *api.Error
	return errors.Is(err, context.Canceled) && !errors.As(err, &e)
}

// APIError is an error as the API would have it.
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

// Refusal keeps what went wrong here apart from the status of what was to be run.
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

// Own has what failed here, before anything was run, end with a status that is not one of what was to be run.
func Own(err error) error {
	var e *Error
	if err == nil || errors.As(err, &e) || Status(err) != api.ExitFailure {
		return err
	}
	return &Error{api.ExitOwnFailure, err}
}

// NotAllowed is the error that a result stands for of what was not run, as the rules or a person did not allow it.
func NotAllowed(r *api.Result) *api.Error {
	e := &api.Error{Code: api.CodeDenied, Message: r.Error, Hint: r.Hint, Policy: r.Policy, Approval: r.Approval}
	if r.Approval != "" {
		e.Code = api.CodeRejected
	}
	return e
}

// OfDenied is its exit status.
func OfDenied(r *api.Result) int { return NotAllowed(r).RefusedStatus() }

// Judged keeps what the rules or a person did not allow apart from other conflicts, as run and exec do.
func Judged(err error) error {
	var e *api.Error
	if errors.As(err, &e) && (e.Code == api.CodeDenied || e.Code == api.CodeRejected || e.Code == api.CodeNeedsApproval) {
		return Refusal(err)
	}
	return err
}

// Status is the exit status that an error stands for (docs/errors.md).
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

// IsSilent says that an error is a status and no more: what there was to say has been said.
func IsSilent(err error) bool {
	var exit *Error
	return errors.As(err, &exit) && exit.Err == nil
}
