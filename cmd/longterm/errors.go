package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/output/diagnostics"
)

// tell says what went wrong on standard error: in a line, or as the API does when JSON was
// asked for, which a command line that cannot be read may do as well.
func (a *app) tell(err error) {
	if a.json || asksJSON(a.args) {
		_ = encodeCompact(a.stderr, apiError(err)) // there is nowhere else to say it
		return
	}
	msg := err.Error()
	if isInterrupted(err) {
		msg = "interrupted"
	}
	// Messages of joined errors come in lines; a person reads one.
	fmt.Fprintf(a.stderr, "longterm: %s\n", strings.ReplaceAll(msg, "\n", "; "))
}

// asksJSON says that arguments ask for JSON.
func asksJSON(args []string) bool {
	for _, arg := range args {
		if arg == "--" {
			return false
		}
		if arg == "--json" || strings.HasPrefix(arg, "--json=") && arg != "--json=false" {
			return true
		}
	}
	return false
}

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

// unknownVerb is a word that is no verb, with the one that was probably meant.
func unknownVerb(cmd *cobra.Command, word string) error {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(append(names, c.Name()), c.Aliases...)
		}
	}
	slices.Sort(names)
	if near := diagnostics.Nearest(word, names); near != "" {
		return usagef("unknown verb %q; `%s %s` is the nearest; see `%s --help`", word, cmd.CommandPath(), near, cmd.CommandPath())
	}
	return usagef("unknown verb %q; see `%s --help`", word, cmd.CommandPath())
}

// encodeCompact writes JSON in a line.
func encodeCompact(w interface{ Write([]byte) (int, error) }, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
