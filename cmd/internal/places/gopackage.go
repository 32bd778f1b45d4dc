//go:build unix

package places

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Go's tests name files without their directory, which is that of the package: of the module that it is in, or of one
// of the workspace's.

// goPackageDir is the directory of a package that was tested from a directory of this machine; empty: not known.
func goPackageDir(dir, importPath string) string {
	if !filepath.IsAbs(dir) || importPath == "" {
		return ""
	}
	for at := dir; ; at = filepath.Dir(at) {
		if in := withinModule(at, importPath); in != "" {
			return in
		}
		for _, use := range directives(filepath.Join(at, "go.work"), "use") {
			if !filepath.IsAbs(use) {
				use = filepath.Join(at, use)
			}
			if in := withinModule(use, importPath); in != "" {
				return in
			}
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

// withinModule is where a package of the module at root is; empty: it is not one of its packages.
func withinModule(root, importPath string) string {
	for _, module := range directives(filepath.Join(root, "go.mod"), "module") {
		if rest, ok := strings.CutPrefix(importPath+"/", module+"/"); ok && module != "" {
			return filepath.Join(root, filepath.FromSlash(rest))
		}
	}
	return ""
}

// maxModFile bounds what is read of a module's file, in bytes.
const maxModFile = 1 << 20

// directives are what a go.mod or go.work says with a word, in a line or in a block. A file that cannot be read says
// nothing.
func directives(file, word string) (values []string) {
	st, err := os.Stat(file)
	if err != nil || !st.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	inBlock := false
	for lines := bufio.NewScanner(io.LimitReader(f, maxModFile)); lines.Scan(); {
		text, _, _ := strings.Cut(lines.Text(), "//")
		fields := strings.Fields(text)
		switch {
		case len(fields) == 0:
			continue
		case inBlock && fields[0] == ")":
			inBlock = false
			continue
		case fields[0] == word && len(fields) > 1 && fields[1] == "(":
			inBlock = true
			continue
		case fields[0] == word && len(fields) > 1:
			fields = fields[1:]
		case !inBlock:
			continue
		}
		value := fields[0]
		if plain, err := strconv.Unquote(value); err == nil {
			value = plain
		}
		values = append(values, value)
	}
	return values
}
