set(DTJ_RUN_EXECUTOR_SOURCES
  executor.cpp
  executor_builtins.cpp
  executor_steps.cpp)
