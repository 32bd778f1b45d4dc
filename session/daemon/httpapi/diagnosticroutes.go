//go:build unix

package httpapi

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/compareruns"
	"github.com/longterm-dev/longterm/session/daemon/excerpt"
	"github.com/longterm-dev/longterm/session/output/diagnostics"
	"github.com/longterm-dev/longterm/session/output/suggest"
	"github.com/longterm-dev/longterm/store"
)

func (s *Server) getParsed(ctx context.Context, in *commandPath) (diagnostics.Result, error) {
	r, _, _, err := s.parseCommand(ctx, in)
	return r, err
}

// parseCommand returns the diagnostics in a command's output, with the output and the command's record.
func (s *Server) parseCommand(ctx context.Context, in *commandPath) (r diagnostics.Result, out string, c store.Command, err error) {
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
	r, out, c, err := s.parseCommand(ctx, in)
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
	facts := suggest.Context{Line: c.Text, Output: out, Result: r, Programs: programsOn(os.Getenv("PATH")), Files: dirEntries(dir), Targets: buildTargets(dir)}
	if c.ExitCode != nil && *c.ExitCode == 0 {
		if facts.Project, err = s.projectOf(ctx, dir, c.Text, facts.Files); err != nil {
			return nil, err
		}
	}
	list := suggest.Suggest(facts)
	if list == nil {
		list = []suggest.Suggestion{}
	}
	return list, nil
}

// programsOn lists the programs on a PATH.
func programsOn(path string) []string {
	var all []string
	for _, dir := range filepath.SplitList(path) {
		all = append(all, dirEntries(dir)...)
	}
	return all
}

// maxVerbFile bounds the part of a makefile or package.json that is read.
const maxVerbFile = 256 << 10

// buildTargets returns the targets of a directory's makefile and package.json.
func buildTargets(dir string) *suggest.Targets {
	v := &suggest.Targets{}
	if !strings.HasPrefix(dir, "/") {
		return v
	}
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} {
		if b := fileStart(filepath.Join(dir, name)); b != nil {
			v.Make = suggest.MakeTargets(string(b))
			break
		}
	}
	v.NPM = suggest.NPMScripts(fileStart(filepath.Join(dir, "package.json")))
	return v
}

// fileStart returns the start of a regular file, or nil.
func fileStart(path string) []byte {
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

// dirEntries returns the names of a directory's entries, or nil if it is not readable.
func dirEntries(dir string) []string {
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

// Bounds of the facts about a project.
const (
	maxRunsHere    = 200  // newest commands of the directory
	maxSourceFiles = 5000 // entries that are visited for their times
	maxSourceDepth = 6    // levels of directories
)

// projectOf returns facts about a directory after a successful command: what ran in it, and when its files changed.
func (s *Server) projectOf(ctx context.Context, dir, line string, files []string) (*suggest.Project, error) {
	p := &suggest.Project{}
	if into := suggest.ClonedInto(line); into != "" && strings.HasPrefix(dir, "/") {
		if !filepath.IsAbs(into) {
			into = filepath.Join(dir, into)
		}
		p.Cloned = dirEntries(into)
	}
	if !suggest.IsProject(files) {
		return p, nil
	}
	runs, err := s.store.Commands(ctx, store.CommandQuery{Cwd: dir, Newest: true, Limit: maxRunsHere})
	if err != nil {
		return nil, err
	}
	for i := range runs {
		if s.shows(ctx, runs[i].Session) {
			p.Runs = append(p.Runs, suggest.Run{Line: runs[i].Text, Began: runs[i].Started})
		}
	}
	p.Changed, p.HasTests = sourceChanges(ctx, dir)
	return p, nil
}

// sourceNames are the ends of names of source files.
var sourceNames = []string{".go", ".rs", ".py", ".js", ".jsx", ".mjs", ".ts", ".tsx", ".vue", ".svelte", ".java", ".kt", ".c", ".h", ".cc", ".cpp", ".hpp", ".rb"}

// productDirs are directories of products and packages, which commands write. Those with a leading dot are skipped too.
var productDirs = []string{"node_modules", "vendor", "target", "build", "dist", "out", "venv", "__pycache__"}

// sourceChanges returns the time of the newest change of a source file below a directory, as far as the bounds allow, and
// whether a file is a test by its name. It follows no links.
func sourceChanges(ctx context.Context, dir string) (newest time.Time, hasTests bool) {
	seen := 0
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { // what cannot be read is skipped
		if seen++; seen > maxSourceFiles || ctx.Err() != nil {
			return fs.SkipAll
		}
		if err != nil {
			return fs.SkipDir
		}
		name := d.Name()
		if d.IsDir() {
			depth := strings.Count(strings.TrimPrefix(path, dir), "/")
			if path != dir && (strings.HasPrefix(name, ".") || slices.Contains(productDirs, name) || depth > maxSourceDepth) {
				return fs.SkipDir
			}
			return nil
		}
		ext := filepath.Ext(name)
		if !d.Type().IsRegular() || !slices.Contains(sourceNames, ext) {
			return nil
		}
		stem := strings.TrimSuffix(name, ext)
		hasTests = hasTests || strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, ".test") || strings.HasPrefix(stem, "test_")
		if st, err := d.Info(); err == nil && st.ModTime().After(newest) {
			newest = st.ModTime()
		}
		return nil
	})
	return newest, hasTests
}

// whyQuery names a failed command and the good run to compare it with.
type whyQuery struct {
	SessionPath
	N        int    `path:"n" minimum:"0" doc:"number of the command in its session, from 1; 0: the newest failed command, or the session's program"`
	Against  string `query:"against" doc:"session of the run to compare with: id, name, or a unique prefix; default: the newest good run of the same command"`
	AgainstN int    `query:"against_command" minimum:"0" doc:"number of that command; 0: the newest failed command, or the program"`
}

// getWhy compares a failed run with a good one.
func (s *Server) getWhy(ctx context.Context, in *whyQuery) (api.Why, error) {
	if in.Against != "" && grantOf(ctx) != nil {
		if _, err := s.visible(ctx, in.Against); err != nil {
			return api.Why{}, err
		}
	}
	s.reg.Flush(ctx)
	f := compareruns.Finder{Registry: s.reg, Store: s.store, IsVisible: func(id string) bool { return s.shows(ctx, id) }}
	return f.Explain(ctx, s.conf.Parser(), compareruns.Query{
		Session: in.Session, N: in.N, Against: in.Against, AgainstN: in.AgainstN, Hide: s.redactorFor(ctx) != nil,
	})
}
