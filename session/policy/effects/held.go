package effects

import (
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Draft describes the draft in which a line would run.
type Draft struct {
	Root string // its directory
	// Reaches reports whether programs in the draft can connect to a port of a host; "" is the registries of packages. nil: the
	// draft has no network.
	Reaches func(host string, port int) bool

	fetchesNothing bool // what curl and wget would print or write may be run by the line
}

// isFetch reports whether a command is curl or wget.
func (c *command) isFetch() bool { return c.name == "curl" || c.name == "wget" || c.name == "wget2" }

// downloads install packages into the directory of a project. All else that they write is a cache.
const downloads = "npm install|npm ci|npm update|pnpm install|pnpm add|pnpm update|yarn install|yarn add|bun install|bun add|" +
	"composer install|composer require|composer update|cargo add|cargo update|cargo fetch|uv sync|uv add|go get|pip install|pip3 install"

// otherPlaces are options of downloads that name another directory, or other rights.
var otherPlaces = []string{
	"-g", "-C", "-t", "--global", "--location", "--prefix", "--dir", "--cwd", "--root", "--manifest-path", "--target-dir", "--target", "--user", "--directory",
	"--project", "--modules-folder", "--install-dir", "--working-dir", "-d", "--break-system-packages", "--python",
}

// fetchOptions are options of curl and wget with which they only fetch. What they write is checked apart.
var fetchOptions = []string{
	"-s", "-S", "-f", "-L", "-o", "-O", "-I", "-i", "-v", "-m", "-q", "-c", "-P", "--silent", "--show-error", "--fail", "--location", "--output",
	"--remote-name", "--head", "--include", "--verbose", "--max-time", "--connect-timeout", "--compressed", "--quiet", "--continue", "--no-verbose",
}

// cloneOptions are options of git clone that name neither a program nor a further directory.
var cloneOptions = []string{"--depth", "-b", "--branch", "--single-branch", "-q", "--quiet", "--no-tags"}

// copyOptions are options of rsync that name neither a program nor a further file.
var copyOptions = []string{
	"-a", "-v", "-r", "-l", "-p", "-t", "-n", "-u", "-c", "-q", "-h", "-z", "-P", "-i", "-H", "-x", "--archive", "--verbose", "--recursive", "--delete",
	"--delete-after", "--delete-before", "--delete-excluded", "--dry-run", "--exclude", "--include", "--progress", "--stats", "--checksum", "--update",
}

// isHeld reports whether a draft holds the effects of a command that a row of escapingEffects names in general.
func (c *command) isHeld(d *Draft) bool {
	if slices.ContainsFunc(c.Argv, func(w string) bool { return strings.Contains(w, "…") }) {
		return false
	}
	_, installs := c.matches(downloads)
	switch {
	case c.name == "kill": // signals its process group, which is the line's
		return len(c.args.Options) == 0 && len(c.args.Operands) > 0 && !slices.ContainsFunc(c.args.Operands, func(w string) bool { return w != "0" })
	case c.name == "rsync":
		return c.copiesHere()
	case installs:
		return c.installsInto(d)
	case d.Reaches == nil:
		return false
	case c.isFetch():
		if d.fetchesNothing {
			return false
		}
		into, _ := c.args.Get("-P")
		return hasOnly(c.optionNames(), fetchOptions) && reachesAll(d, c.args.Operands) && c.outside(into, d.Root) == ""
	case c.name == "git" && len(c.words) > 0 && c.words[0] == "clone":
		ops := c.args.Operands
		return c.used == 1 && len(c.Argv) > 1 && c.Argv[1] == "clone" && len(ops) > 0 && len(ops) < 3 && hasOnly(c.optionNames(), cloneOptions) &&
			reachesAll(d, ops[:1]) && strings.HasPrefix(ops[0], "https://") && (len(ops) == 1 || c.outside(ops[1], d.Root) == "")
	}
	return false
}

// copiesHere reports whether an rsync copies on this machine and starts no further program.
func (c *command) copiesHere() bool {
	for _, w := range c.args.Operands {
		before, _, remote := strings.Cut(w, ":")
		if remote && !strings.Contains(before, "/") || strings.HasPrefix(w, "rsync://") {
			return false
		}
	}
	return len(c.args.Operands) > 1 && hasOnly(c.optionNames(), copyOptions)
}

// installsInto reports whether an installation changes the draft's directory only, and gets its packages.
func (c *command) installsInto(d *Draft) bool {
	offline := slices.Contains(c.Argv, "--offline") || slices.Contains(c.Argv, "--no-index")
	if !offline && (d.Reaches == nil || !d.Reaches("", 0)) {
		return false
	}
	for _, w := range c.Argv[1:] {
		option, _, _ := strings.Cut(w, "=")
		if slices.Contains(otherPlaces, option) || strings.HasPrefix(w, "-C") {
			return false
		}
	}
	if strings.HasPrefix(c.name, "pip") { // of a virtual environment in the directory
		return strings.Contains(c.Argv[0], "/") && path.Base(path.Dir(c.Argv[0])) == "bin" && c.outside(c.Argv[0], d.Root) == ""
	}
	return c.Dir != "" && c.isInside(c.Dir, d.Root)
}

// isInside reports whether a path is a directory or in it.
func (c *command) isInside(p, dir string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && filepath.IsLocal(rel)
}

// optionNames returns the names of the options of c.
func (c *command) optionNames() (names []string) {
	for _, o := range c.args.Options {
		names = append(names, o.Name)
	}
	return names
}

// hasOnly reports whether all of some names are allowed.
func hasOnly(names, allowed []string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(allowed, n) })
}

// reachesAll reports whether words are addresses of the web on hosts that a draft reaches.
func reachesAll(d *Draft, words []string) bool {
	for _, w := range words {
		if !strings.Contains(w, "://") {
			w = "http://" + w
		}
		u, err := url.Parse(w)
		port := map[string]int{"http": 80, "https": 443}
		if err != nil || port[u.Scheme] == 0 || u.Hostname() == "" || u.User != nil {
			return false
		}
		n, err := strconv.Atoi(u.Port())
		if err != nil {
			n = port[u.Scheme]
		}
		if !d.Reaches(u.Hostname(), n) {
			return false
		}
	}
	return len(words) > 0
}

// isOnImages reports whether a command makes a file system in files of the draft's directory. A draft has no disks.
func (c *command) isOnImages(root string) bool {
	ops := c.args.Operands
	return (strings.HasPrefix(c.name, "mkfs") || c.name == "mke2fs" || c.name == "mkswap") && len(ops) > 0 && c.Dir != "" &&
		!slices.ContainsFunc(ops, func(w string) bool { return strings.ContainsAny(w, "…") || c.outside(w, root) != "" })
}
