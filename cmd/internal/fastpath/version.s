// A function without a body, as modinfo, may be declared where there is an assembly file.
