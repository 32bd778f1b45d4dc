// Package logs makes the log of a process that serves others: keeper, daemon, links.
package logs

import (
	"log/slog"
	"os"
)

// To makes a structured log of a file, or of standard error.
func To(f *os.File) *slog.Logger {
	level := slog.LevelInfo
	if os.Getenv("LONGTERM_DEBUG") != "" {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(f, &slog.HandlerOptions{Level: level}))
}
