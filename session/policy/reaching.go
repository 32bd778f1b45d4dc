package policy

import (
	"path"
	"slices"
	"strings"
)

// A name lookup or a fetch sends the words that it is given to another machine. So a reading command that looks names up, or
// fetches, only reads if its words are written out.

// askers are readers that ask another machine about the words that they are given, with their subcommands.
var askers = fieldSet("gh glab|npm view|npm info|npm show|npm outdated|gem list|brew info|go list|go doc|svn info|svn status")

// hostTables are databases of getent that are looked up by the name service of the network.
const hostTables = words("hosts ahosts ahostsv4 ahostsv6 networks netgroup")

// sendsOut returns the reason if a command that else only reads sends words to another machine, and else "".
func (pr *presets) sendsOut(x *invocation) string {
	args := x.argv[1:]
	for _, a := range args {
		if full, _ := pr.clean(a[strings.IndexByte(a, '=')+1:]); hasHole(a) && (strings.HasPrefix(full, "/net/") || strings.HasPrefix(full, "/afs/")) {
			return "a path below " + full[:4] + " is looked up on another machine"
		}
	}
	computed := slices.ContainsFunc(args, hasHole)
	switch {
	case x.name == "getent":
		if ops := x.args.Operands; computed || len(ops) > 1 && hostTables.has(ops[0]) {
			return "it looks the name up on another machine"
		}
	case x.name == "tar" || x.name == "bsdtar" || x.name == "gtar":
		for _, o := range x.args.Options {
			before, _, remote := strings.Cut(o.Value, ":")
			if (o.Name == "-f" || o.Name == "--file") && !x.args.Has("--force-local") &&
				(remote && !strings.Contains(before, "/") || hasHole(before) && strings.IndexAny(before, holes) == 0) {
				return "it may read an archive of another machine"
			}
		}
	case x.name == "go" && slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "@") || a == "-versions" }):
		return "it fetches a module"
	case x.name == "gem" && x.args.Has("-r", "--remote", "-b", "--both", "-a"):
		return "it asks another machine"
	case x.does(askers) && computed:
		return "it sends a word to another machine that is not known before it runs"
	case (x.name == "xmllint" && !x.args.Has("--nonet") || x.name == "rpm" || x.name == "svn") && slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "://") }):
		return "it fetches from another machine"
	}
	return ""
}

// installsElsewhere reports a command of building that puts programs into a directory of PATH under names that may be those of others.
func (pr *presets) installsElsewhere(x *invocation) bool {
	switch {
	case x.name == "stack":
		return hasPrefix(x.argv, "--copy-bins", "--local-bin-path", "--copy-compiler-tool")
	case x.name != "go" || x.argv[1] != "install":
		return false
	}
	packages := x.args.Operands
	if len(packages) > 0 && packages[0] == "install" {
		packages = packages[1:]
	}
	return len(packages) == 0 || slices.ContainsFunc(packages, func(p string) bool {
		name := path.Base(p)
		return !strings.HasPrefix(p, "./") || strings.Trim(name, ".") == "" || hasHole(p) || hasGlob(p) || known(name) || destroyers.has(name) || screens.has(name)
	})
}
