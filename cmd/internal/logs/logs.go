// Package logs creates the logger of server processes: keeper, daemon, links.
package logs

import (
	"log/slog"
	"os"
)

// To returns a structured logger that writes to f, or to standard error if f is nil.
func To(f *os.File) *slog.Logger {
	level := slog.LevelInfo
	if os.Getenv("LONGTERM_DEBUG") != "" {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(f, &slog.HandlerOptions{Level: level}))
}
