//go:build unix

package httpapi

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/excerpt"
	"github.com/longterm-dev/longterm/session/output/diagnostics"
	"github.com/longterm-dev/longterm/session/output/suggest"
	"github.com/longterm-dev/longterm/store"
)

func (s *Server) getParsed(ctx context.Context, in *commandPath) (diagnostics.Result, error) {
	r, _, _, err := s.parsed(ctx, in)
	return r, err
}

func (s *Server) parsed(ctx context.Context, in *commandPath) (r diagnostics.Result, out string, c store.Command, err error) {
	if c, err = s.command(ctx, in); err != nil {
		return r, "", c, err
	}
	e, err := s.reg.Resolve(c.Session)
	if err != nil {
		return r, "", c, err
	}
	to := c.To
	if to == 0 {
		_, to = e.Session.OutputRange()
	}
	r, out, err = excerpt.Parse(ctx, s.conf.Parser(), e.Session, c.Text, c.ExitCode, c.From, to)
	return r, out, c, err
}

func (s *Server) getSuggestions(ctx context.Context, in *commandPath) ([]suggest.Suggestion, error) {
	r, out, c, err := s.parsed(ctx, in)
	if err != nil {
		return nil, err
	}
	if c.State == store.CommandRunning {
		return nil, api.Errorf(api.CodeRunning, "command %d runs still", c.N).WithHint("wait for its end: `longterm wait %s --for command`", in.Session)
	}
	dir := c.CwdAfter
	if dir == "" {
		dir = c.Cwd
	}
	list := suggest.Suggest(suggest.Context{Line: c.Text, Output: out, Result: r, Programs: programs(os.Getenv("PATH")), Files: names(dir), Verbs: verbs(dir)})
	if list == nil {
		list = []suggest.Suggestion{}
	}
	return list, nil
}

// programs are the names on a PATH.
func programs(path string) []string {
	var all []string
	for _, dir := range filepath.SplitList(path) {
		all = append(all, names(dir)...)
	}
	return all
}

// maxVerbFile bounds what is read of a makefile or a package.json.
const maxVerbFile = 256 << 10

// verbs are what a directory's makefile and package.json let one run.
func verbs(dir string) *suggest.Verbs {
	v := &suggest.Verbs{}
	if !strings.HasPrefix(dir, "/") {
		return v
	}
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} {
		if b := head(filepath.Join(dir, name)); b != nil {
			v.Make = suggest.MakeTargets(string(b))
			break
		}
	}
	v.NPM = suggest.NPMScripts(head(filepath.Join(dir, "package.json")))
	return v
}

// head is the beginning of a regular file; nil: there is none.
func head(path string) []byte {
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxVerbFile))
	if err != nil {
		return nil
	}
	return b
}

// names are the entries of a directory; none when it cannot be read.
func names(dir string) []string {
	if !strings.HasPrefix(dir, "/") {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	list := make([]string, len(entries))
	for i, e := range entries {
		list[i] = e.Name()
	}
	return list
}
