//go:build unix

package httpapi

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// TestSentinelsAreComplete checks that each sentinel error of the layer below has a row, and each row has a sentinel.
func TestSentinelsAreComplete(t *testing.T) {
	declared := map[string]bool{}
	for _, file := range parseDir(t, filepath.Join("..", "..")) {
		for name, object := range file.Scope.Objects {
			if object.Kind == ast.Var && strings.HasPrefix(name, "Err") && ast.IsExported(name) {
				declared[name] = true
			}
		}
	}
	mapped := map[string]bool{}
	for _, file := range parseDir(t, ".") {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || spec.Names[0].Name != "sentinels" {
				return true
			}
			ast.Inspect(spec, func(n ast.Node) bool {
				if x, ok := n.(*ast.SelectorExpr); ok && fmt.Sprint(x.X) == "session" {
					mapped[x.Sel.Name] = true
				}
				return true
			})
			return false
		})
	}
	if len(mapped) < 10 {
		t.Fatalf("the table has only %v", mapped)
	}
	for name := range declared {
		if !mapped[name] {
			t.Errorf("session.%s has no code: give it a row in sentinels", name)
		}
	}
	for name := range mapped {
		if !declared[name] {
			t.Errorf("session.%s does not exist any more", name)
		}
	}
}

// TestEachCodeIsGiven checks that each code of the table of errors is used by some error.
func TestEachCodeIsGiven(t *testing.T) {
	given := map[string]bool{}
	for _, root := range []string{filepath.Join("..", ".."), filepath.Join("..", "..", "..", "cmd")} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() || d.Name() == "testdata" || path == filepath.Join("..", "..", "api") {
				return err
			}
			for _, file := range parseDir(t, path) {
				ast.Inspect(file, func(n ast.Node) bool {
					if x, ok := n.(*ast.SelectorExpr); ok && fmt.Sprint(x.X) == "api" {
						given[x.Sel.Name] = true
					}
					return true
				})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	given["CodeCanceled"] = true // by its exit status, CodeOfExit
	given["CodeDenied"] = true   // reserved for policies
	for row := range api.Codes {
		if name := constantOf(row.Code); !given[name] {
			t.Errorf("no error has %s, code %q", name, row.Code)
		}
	}
}

// constantOf is the name of a code's constant: no_shell is CodeNoShell.
func constantOf(c api.Code) string {
	name := "Code"
	for word := range strings.SplitSeq(string(c), "_") {
		if word == "id" || word == "ssh" {
			word = strings.ToUpper(word)
		}
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	return name
}

func parseDir(t *testing.T, dir string) []*ast.File {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// TestToAPI checks that errors get the code and hint of their row, wrapped or not; an error of the API stays what it
// is.
func TestToAPI(t *testing.T) {
	for _, s := range sentinels {
		for _, err := range []error{s.err, fmt.Errorf("type: %w", s.err), errors.Join(s.err, errors.New("close"))} {
			var e *api.Error
			if !errors.As(toAPI(err), &e) || e.Code != s.code || e.Hint != s.hint || e.Message != err.Error() {
				t.Errorf("%v: %+v, want %s", err, e, s.code)
			}
		}
	}
	own := api.Errorf(api.CodeDenied, "no").WithHint("ask")
	if got := toAPI(fmt.Errorf("exec: %w", errors.Join(own, context.Canceled))); got != error(own) {
		t.Errorf("%v", got)
	}
	var e *api.Error
	if !errors.As(toAPI(errors.New("disk on fire")), &e) || e.Code != api.CodeInternal {
		t.Errorf("%+v", e)
	}
	if toAPI(nil) != nil {
		t.Error("no error is an error")
	}
}
