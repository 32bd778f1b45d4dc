//go:build unix

package sourcepos

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

// goPackageDir returns the directory of a Go package that was tested from dir on this machine, or "".
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

// withinModule returns the directory of a package in the module at root, or "".
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

// directives returns the values of a directive in a go.mod or go.work file, in lines and blocks. An unreadable file has
// none.
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
