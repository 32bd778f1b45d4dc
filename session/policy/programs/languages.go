package programs

// languages run code of their own language.
var languages = []Program{
	{Name: "python,pypy,ipython", Code: "-c", Values: "-W -X -m", Stop: true, Lang: "python", StdinRun: true},
	{Name: "perl", Code: "-e -E", Values: "-I -M -m", Stop: true, Lang: "perl", StdinRun: true},
	{Name: "ruby,jruby", Code: "-e", Values: "-I -r -C", Stop: true, Lang: "ruby", StdinRun: true},
	{Name: "deno eval", Values: "--ext", Run: RunFirstCode, Lang: "node"},
	{Name: "node,nodejs,bun,deno", Code: "-e -p --eval --print", Values: "-r --require --import --loader",
		Stop: true,
		Lang: "node", StdinRun: true},
	{Name: "php", Code: "-r -B -R -E", Values: "-d -c -f", Stop: true, Lang: "php", StdinRun: true},
	{Name: "lua,luajit,tclsh,expect,guile,osascript,Rscript,R,julia,elixir,ghc,runghc,scala,groovy," +
		"swift,raku,janet,sbcl",
		Code: "-e -c --eval -E", Values: "-l -L", Stop: true, Lang: "other", StdinRun: true},
	{Name: "awk,gawk,mawk,nawk,original-awk", Reads: true, Values: "-F -v --field-separator --assign",
		Code: "-e --source",
		Unsafe: "-p --profile -o --pretty-print -d --dump-variables -i --include -D --debug -E " +
			"--exec", Script: "-f --file", Loads: "-l --load",
		Run: RunFirstCode, Lang: "awk"},
	{Name: "sed,gsed,ssed", Reads: true, Values: "-l --line-length", Flags: "--quiet --regexp-extended " +
		"--posix --null-data",
		Code: "-e --expression", Unsafe: "-i --in-place", Script: "-f --file", Run: RunFirstCode, Lang: "sed"},
	{Name: "vim,vi,nvim,view,ex,gvim,rvim,vimdiff", Code: "-c --cmd", Values: "-u -U -i -T -t -w -W -q",
		Lang: "vim"},
	{Name: "ex", Code: "-c --cmd", Values: "-u -U -i -T -t -w -W -q", Lang: "vim", StdinRun: true, StdinAlways: true},
	{Name: "emacs,emacsclient", Code: "-eval -execute -f", Values: "-l -load", OneDash: true, Lang: "other"},
	{Name: "nano,pico,micro,helix,hx,kak", Values: "-s -r"},
	{Name: "lldb", Code: "-o -O --one-line --one-line-before-crash -Q", Values: "-s -S -f -p -n -a -c", Lang: "vim"},
	{Name: "gdb", Argv: "-args", Code: "-ex -iex -o --batch-ex -eval-command", Values: "-x -p", OneDash: true, Lang: "vim"},
	{Name: "make,gmake,bmake", Values: "-C -f -j -l -o -W -I --directory --file --makefile --jobs",
		Code: "--eval -E", Lang: "make"},
	{Name: "sqlite3", Code: "-cmd", Values: "-separator -init", OneDash: true, Lang: "sql", StdinRun: true, StdinAlways: true},
	{Name: "psql", Code: "-c --command", Values: "-U -h -d -p -v -f", Writes: "-o --output -L --log-file", Lang: "sql",
		StdinRun: true, StdinAlways: true},
	{Name: "mysql,mariadb", Code: "-e --execute", Values: "-u -h -D -P", Runs: "--pager", Loads: "--plugin-dir", Lang: "sql", StdinRun: true, StdinAlways: true},
	{Name: "lftp", Code: "-c -e", Values: "-u -p -f", Lang: "vim", StdinRun: true, StdinAlways: true},
	{Name: "mutt", Values: "-s -c -b -e -a -H -i -F"},
	{Name: "erl", OneDash: true, Code: "-eval", Values: "-s -run -name -sname -pa", Lang: "other"},
	{Name: "ftp,mail,mailx", Values: "-s -c -b -r -e -a -H -i", Lang: "vim", StdinRun: true, StdinAlways: true},
	{Name: "jshell", Lang: "other", StdinRun: true, StdinAlways: true},
	{Name: "java,kotlin,dotnet,mono", OneDash: true, Values: "-cp -classpath -jar"},
}
