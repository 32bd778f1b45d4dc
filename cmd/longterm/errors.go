package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/longterm-dev/longterm/session/api"
)

// exitError ends the program with a status and, if there is one, no further word: the
// verb has said what there was to say.
type exitError struct {
	code int
	err  error // nil: say nothing
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usageError is a command line that makes no sense.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// exitSilent ends the program with a status and no further word.
func exitSilent(code int) error { return &exitError{code: code} }

// exitWith ends the program with a status and a message.
func exitWith(code int, err error) error { return &exitError{code: code, err: err} }

// misuse makes an error one of usage.
func misuse(err error) error { return usageError{err} }

// isInterrupted says that an error is nothing but an interruption.
func isInterrupted(err error) bool {
	var e *api.Error
	return errors.Is(err, context.Canceled) && !errors.As(err, &e)
}

// apiError is an error as the API would have it.
func apiError(err error) *api.Error {
	var e *api.Error
	var exit *exitError
	var usage usageError
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
	case isInterrupted(err):
		code = api.CodeCanceled
	case errors.As(err, &exit):
		code = api.CodeOfExit(exit.code)
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

// refusal keeps what went wrong here apart from the status of what was to be run.
func refusal(err error) error {
	var e *api.Error
	if errors.As(err, &e) {
		return &exitError{e.RefusedStatus(), err}
	}
	if isInterrupted(err) {
		return &exitError{api.ExitInterrupted, err}
	}
	return &exitError{api.ExitOwnFailure, err}
}

// exitStatusOf is the exit status that an error stands for (docs/errors.md).
func exitStatusOf(err error) int {
	var apiErr *api.Error
	var exit *exitError
	var usage usageError
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

// isSilent says that an error is a status and no more: what there was to say has been said.
func isSilent(err error) bool {
	var exit *exitError
	return errors.As(err, &exit) && exit.err == nil
}
