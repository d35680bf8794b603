#include "compiler/lint/context.hpp"

#include <re2/re2.h>

namespace dtj::lint {

namespace {

std::string_view extension_of(std::string_view name) {
  const auto dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
}

std::string_view last_component(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

Flavour flavour_of(std::string_view file_name) {
  const std::string_view name = last_component(file_name);
  const std::string ext = lower(extension_of(name));
  const auto is_one_of = [&](std::initializer_list<std::string_view> list) { return std::find(list.begin(), list.end(), ext) != list.end(); };
  if (is_one_of({"sh", "bash", "sbatch", "slurm", "pbs", "lsf", "sge", "pjm", "csh", "zsh", "ksh", "job", "qsub", "bsub", "oar", "cobalt", "flux", "batch", "env", "fish"})) return Flavour::shell;
  if (is_one_of({"py", "c", "cc", "cpp", "h", "hpp", "rs", "go", "js", "ts", "java", "jl", "r", "lua", "pl", "rb", "cu", "ipynb", "cmake", "smk"})) return Flavour::code;
  if (is_one_of({"yaml", "yml", "toml", "json", "ini", "cfg", "conf", "config", "properties", "jsonl", "xml", "hcl", "tf"})) return Flavour::config;
  if (is_one_of({"md", "markdown", "rst", "tex", "adoc", "org"})) return Flavour::markdown;
  if (is_one_of({"log", "out", "err", "o", "e"})) return Flavour::log;
  if (is_one_of({"dtj"})) return Flavour::job;
  return Flavour::text;
}

Flavour flavour_of_text(std::string_view text) {
  if (starts_with(text, "#!")) return text.substr(0, std::min(text.size(), text.find('\n'))).find("python") != std::string_view::npos ? Flavour::code : Flavour::shell;
  return Flavour::text;
}

bool is_hostfile(std::string_view file_name) {
  static const RE2 pattern("(?i)(^|[^a-z])(hostfile|machinefile|nodefile|nodelist|hostlist|machines|hosts)([^a-z]|$)");
  const std::string_view name = last_component(file_name);
  return RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), pattern);
}

bool names_scheduler(std::string_view text) {
  static const RE2 pattern(
      "(?i)slurm|sbatch|\\bsrun\\b|salloc|squeue|\\bsinfo\\b|\\bsacct|\\bqsub|\\bqstat|#pbs|\\bbsub\\b|\\bbjobs|\\bpjsub|#pjm|walltime|"
      "wall_time|time_limit|timelimit|\\bqos\\b|nodelist|scheduler|ntasks|cpus[-_]per|\\bgres\\b|mpirun|mpiexec|\\bpbs\\b|\\blsf\\b|torque|\\bsge\\b|"
      "\\bhpc\\b|submitit|jobqueue|snakemake|nextflow|\\bflux\\b|oarsub|num_nodes|nnodes|gpus[-_]per|job_id|\\bexclusive\\b|batch system|"
      "compute node|supercomputer|reservation|sbank|allocation|login node|executor|\\bdtj \\d|\n\\s*scratch *[:=]|\\bcluster *: *\r?\n|\\bpartitions\\b|dask_jobqueue|\\bsqueue");
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), pattern);
}

}  // namespace dtj::lint
